use std::collections::VecDeque;

use steadfast_model::{Event, EventKind, PromptOrigin};

use crate::action::{name, written};
use crate::scorer::{Scored, Scorer};

/// File endings that the rule recognizes in a prompt.
const ENDINGS: [&str; 11] = ["ts", "js", "tsx", "jsx", "py", "go", "rs", "java", "css", "html", "md"];
const SCOPE: usize = 5;
/// The rule counts how often a file occurs in this many steps.
const WINDOW: usize = 5;
const OFTEN: usize = 3;
const MOST_ESCALATION: i32 = 3;

/// The yardstick for the rule that this score replaces. The scope is every file name in the first prompt, and a file is
/// inside if one text contains the other. Without a scope, everything is inside.
#[derive(Default)]
pub(crate) struct Document {
    scope: Option<Vec<String>>,
    last: VecDeque<Vec<String>>,
    escalation: i32,
}

impl Document {
    fn is_inside(&self, path: &str) -> bool {
        let scope = self.scope.as_deref().unwrap_or_default();
        scope.is_empty() || scope.iter().any(|known| path.contains(known.as_str()) || known.contains(name(path)))
    }

    fn score(&self, paths: &[String]) -> i32 {
        let outside = paths.iter().filter(|path| !self.is_inside(path)).count() as i32;
        let inside = paths.len() as i32 - outside;
        let score = match (inside, outside) {
            (_, 0) => 10,
            (0, outside) => 4 - outside,
            (inside, outside) => (2.0 + 8.0 * f64::from(inside) / f64::from(inside + outside)).round() as i32 - outside,
        };
        let often = |path: &&String| self.last.iter().filter(|step| step.contains(path)).count() >= OFTEN;
        (score - 2 * paths.iter().filter(often).count() as i32).max(1)
    }
}

impl Scorer for Document {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        if let EventKind::Prompt { text, origin: PromptOrigin::Human, .. } = &event.kind {
            self.scope.get_or_insert_with(|| files(text));
        }
        let paths = written(event);
        if paths.is_empty() {
            return None;
        }
        self.last.push_back(paths.to_vec());
        self.last.drain(..self.last.len().saturating_sub(WINDOW));
        let score = self.score(paths);
        let level = score - self.escalation;
        self.escalation += match level {
            8.. => -1,
            7 => 0,
            _ => 1,
        };
        self.escalation = self.escalation.clamp(0, MOST_ESCALATION);
        Some(Scored { score: f64::from(score), correction: level <= 6 })
    }
}

/// Returns the words that look like files.
fn files(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-');
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_end_matches('.'));
    let is_file = |word: &&str| word.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending));
    words.filter(is_file).take(SCOPE).map(str::to_owned).collect()
}
