//! The reader test: texts drawn at random, to be marked by a reader.

use super::{Kind, Text};
use crate::random::Random;

/// The number of texts of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub comments: usize,
    pub messages: usize,
    pub help: usize,
}

/// Returns the drawn texts in full, numbered, with their paths. The same seed draws the same texts from the same
/// source.
pub fn sample(texts: &[Text], size: Size, seed: u64) -> String {
    let mut random = Random::from_seed(seed);
    let parts = [
        ("comments", Kind::Comment, size.comments),
        ("messages", Kind::Message, size.messages),
        ("help texts", Kind::Help, size.help),
    ];
    let mut printed = String::new();
    for (title, kind, count) in parts {
        let mut rest: Vec<&Text> = texts.iter().filter(|text| text.kind == kind).collect();
        let of = rest.len();
        printed += &format!("## {} of {of} {title}\n\n", count.min(of));
        for number in 1..=count.min(of) {
            let drawn = rest.swap_remove(random.below(rest.len() as u64) as usize);
            let text = drawn.text.trim().replace('\n', "\n    ");
            printed += &format!("{number}. {}\n    {text}\n", drawn.path);
        }
        printed.push('\n');
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_texts_once_each() {
        let text = |number| Text { kind: Kind::Help, path: format!("{number}.rs"), text: "Show\nit.".to_owned() };
        let texts: Vec<Text> = (0..5).map(text).collect();
        let draw = |help, seed| sample(&texts, Size { comments: 3, messages: 0, help }, seed);
        assert_eq!(draw(3, 7), draw(3, 7));
        assert_ne!(draw(3, 7), draw(3, 8));
        let all = draw(9, 7);
        assert!(all.contains("## 5 of 5 help texts"), "{all}");
        assert!((0..5).all(|number| all.matches(&format!("{number}.rs\n    Show\n    it.\n")).count() == 1), "{all}");
    }
}
