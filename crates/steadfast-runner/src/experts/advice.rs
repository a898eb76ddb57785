use std::fmt::Write;

use super::answer::Advice;
use super::expert::Expert;

/// What a panel recommends, as the next attempt is told. None: nobody said anything that can be read.
pub fn told(panel: &[(Expert, Advice)]) -> Option<String> {
    let mut text = String::new();
    for (expert, Advice { cause, recommendation }) in panel {
        let separator = if text.is_empty() { "" } else { "\n" };
        let cause = if cause.is_empty() { String::new() } else { format!("{cause} ") };
        let _ = write!(text, "{separator}{}: {cause}{recommendation}", expert.as_str());
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_expert_has_a_line() {
        let advice = |cause: &str| Advice { cause: cause.into(), recommendation: "Close it.".into() };
        let panel = [(Expert::Correctness, advice("The file stays open.")), (Expert::Tests, advice(""))];
        assert_eq!(told(&panel).as_deref(), Some("correctness: The file stays open. Close it.\ntests: Close it."));
        assert_eq!(told(&[]), None);
    }
}
