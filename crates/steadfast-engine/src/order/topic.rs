//! The names of the plan, and whether the prompt mentioned it.

use steadfast_model::PlanView;
use steadfast_words::{Word, WordKind};

/// The names of a plan, in the form in which they are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topic {
    title: Vec<String>,
    file: Option<String>,
    ids: Vec<String>,
    /// The plan was mentioned before, so `it` means the plan.
    pub(super) spoken_of: bool,
}

/// The fewest letters of a title or file name that identify the plan.
const NAME: usize = 4;

impl Topic {
    pub(crate) fn of(plan: &PlanView) -> Self {
        let file = plan.brief.spec.as_deref().and_then(|spec| spec.rsplit(['/', '\\']).next());
        Self::new(&plan.title, file, plan.open.iter().map(|task| task.id.as_str()))
    }

    pub(super) fn new<'a>(title: &str, file: Option<&str>, ids: impl Iterator<Item = &'a str>) -> Self {
        let is_name = |name: &&str| name.chars().count() >= NAME;
        let title = Some(title).filter(is_name).unwrap_or_default();
        Self {
            title: title.split_whitespace().map(str::to_lowercase).collect(),
            file: file.filter(is_name).map(str::to_lowercase),
            ids: ids.map(str::to_lowercase).collect(),
            spoken_of: false,
        }
    }

    /// Returns the number of leading words that are the plan's title or its file.
    pub(super) fn at(&self, words: &[Word]) -> usize {
        let Some(first) = words.first() else { return 0 };
        let text = first.text.trim_start_matches('@');
        if self.file.as_deref().is_some_and(|file| text.rsplit('/').next() == Some(file)) {
            return 1;
        }
        if self.title.is_empty() {
            return 0;
        }
        // A quotation is a single word.
        if first.kind != WordKind::Plain && text == self.title.join(" ") {
            return 1;
        }
        let stands =
            words.len() >= self.title.len() && self.title.iter().zip(words).all(|(title, word)| word.is(title));
        if stands { self.title.len() } else { 0 }
    }

    /// Returns true for a task's id or for a word that looks like the ids of the plan. Only the first few ids are known
    /// here.
    pub(super) fn is_id(&self, word: &Word) -> bool {
        let text = word.text.trim_start_matches('#');
        let is_named = |id: &String| id == text || shape(id).is_some_and(|known| Some(known) == shape(text));
        matches!(word.kind, WordKind::Plain | WordKind::Code) && self.ids.iter().any(is_named)
    }
}

/// Returns the shape of an id. `0.1` and `12.3a` have the same shape, and so do `bd-x7y8.3` and `bd-a1`. A number alone
/// has none.
fn shape(id: &str) -> Option<&str> {
    if let Some((tracker, rest)) = id.split_once('-') {
        return (!tracker.is_empty() && rest.contains(|c: char| c.is_ascii_digit())).then_some(tracker);
    }
    let (phase, task) = id.split_once('.')?;
    let is_task = task.starts_with(|c: char| c.is_ascii_digit())
        && task.trim_end_matches(|c: char| c.is_ascii_lowercase()).chars().all(|c| c.is_ascii_digit() || c == '.');
    (!phase.is_empty() && phase.chars().all(|c| c.is_ascii_digit()) && is_task).then_some(".")
}
