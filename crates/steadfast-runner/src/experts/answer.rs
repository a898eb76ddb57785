//! Parses the answers of experts. A model wrote them, so an unreadable answer, or a finding outside the change, does
//! not count.

use std::fmt::Write;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use steadfast_model::FindingSeverity;

use super::diff::Diff;
use super::expert::Expert;

/// The most bytes of an answer that are read, from its end.
const LONGEST: usize = 256 << 10;
/// The most places in it that are tried as the beginning of the JSON.
const TRIES: usize = 4_000;
/// The most characters of one finding that are kept.
const TEXT: usize = 600;
/// The most findings of one expert.
const FINDINGS: usize = 40;

/// The recommendation of one panel expert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub cause: String,
    pub recommendation: String,
}

/// The review of one expert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpertOpinion {
    /// 0 to 10.
    pub score: u8,
    pub findings: Vec<Noted>,
    /// The number of findings that name no place in the change.
    pub dropped: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub severity: FindingSeverity,
    pub file: String,
    pub line: u32,
    pub text: String,
    /// The must-not that it breaks.
    pub must_not: Option<String>,
}

impl Advice {
    /// `None`: the text is not an answer.
    pub fn read(said: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default)]
            cause: String,
            recommendation: String,
        }
        let Wire { cause, recommendation } = last(said)?;
        let advice = Self { cause: short(&cause), recommendation: short(&recommendation) };
        (!advice.recommendation.is_empty()).then_some(advice)
    }
}

impl ExpertOpinion {
    /// `None`: the text is not an answer.
    pub fn read(said: &str, change: &Diff) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire {
            score: f64,
            findings: Vec<serde_json::Value>,
        }
        let Wire { score, findings } = last(said)?;
        if !(0.0..=10.0).contains(&score) {
            return None;
        }
        let all = findings.len();
        let mut opinion = Self { score: score.round() as u8, ..Self::default() };
        for finding in findings.into_iter().take(FINDINGS) {
            let noted = noted(&finding).filter(|noted| change.shows(&noted.file, noted.line));
            opinion.findings.extend(noted.filter(|noted| !opinion.findings.contains(noted)));
        }
        opinion.dropped = all - opinion.findings.len();
        Some(opinion)
    }
}

fn noted(value: &serde_json::Value) -> Option<Noted> {
    let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str).map(str::trim);
    let severity = match text("severity")?.to_ascii_uppercase().as_str() {
        "BLOCKER" => FindingSeverity::Blocker,
        "WARNING" => FindingSeverity::Warning,
        "SUGGESTION" => FindingSeverity::Suggestion,
        _ => return None,
    };
    let line = match value.get("line")? {
        serde_json::Value::Number(number) => number.as_u64()?,
        serde_json::Value::String(number) => number.trim().parse().ok()?,
        _ => return None,
    };
    let said = short(text("text")?);
    let file = text("file")?.trim_start_matches("./").to_owned();
    let must_not = text("must_not").filter(|broken| !broken.is_empty()).map(short);
    (!said.is_empty()).then_some(Noted { severity, file, line: u32::try_from(line).ok()?, text: said, must_not })
}

/// Returns the last JSON object in a text that parses as `T` and is not inside another object.
pub(super) fn last<T: DeserializeOwned>(said: &str) -> Option<T> {
    let mut start = said.len().saturating_sub(LONGEST);
    while !said.is_char_boundary(start) {
        start += 1;
    }
    let said = &said[start..];
    let (mut found, mut from) = (None, 0);
    for _ in 0..TRIES {
        let Some(at) = said[from..].find('{').map(|at| from + at) else { break };
        let mut values = serde_json::Deserializer::from_str(&said[at..]).into_iter::<serde_json::Value>();
        match values.next() {
            // An object inside another one is not a separate answer.
            Some(Ok(value)) => {
                from = at + values.byte_offset();
                found = serde_json::from_value(value).ok().or(found);
            }
            Some(Err(_)) | None => from = at + 1,
        }
    }
    found
}

fn short(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= TEXT { text.to_owned() } else { text.chars().take(TEXT - 1).chain(['…']).collect() }
}

/// Renders a panel's advice for the next attempt. `None`: no readable advice.
pub fn advice_text(panel: &[(Expert, Advice)]) -> Option<String> {
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

    const DIFF: &str = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,1 +1,2 @@\n one\n+two\n";

    fn read(said: &str) -> Option<ExpertOpinion> {
        ExpertOpinion::read(said, &Diff::parse(DIFF))
    }

    #[test]
    fn an_answer_is_found_among_words_and_fences() {
        let said = "I looked at {a.rs}.\n```json\n{\"score\": 8, \"findings\": [{\"severity\": \"blocker\", \"file\": \
                    \"./a.rs\", \"line\": \"2\", \"text\": \" it never ends \"}]}\n```\nThat is all.";
        let noted = Noted {
            severity: FindingSeverity::Blocker,
            file: "a.rs".into(),
            line: 2,
            text: "it never ends".into(),
            must_not: None,
        };
        assert_eq!(read(said), Some(ExpertOpinion { score: 8, findings: vec![noted], dropped: 0 }));
    }

    #[test]
    fn what_names_no_place_in_the_change_is_dropped_and_counted() {
        let finding = |file: &str, line: &str| {
            format!("{{\"severity\": \"WARNING\", \"file\": \"{file}\", \"line\": {line}, \"text\": \"t\"}}")
        };
        let said = format!(
            "{{\"score\": 5, \"findings\": [{}, {}, {}, {{\"severity\": \"FATAL\"}}, 7, {}, {}]}}",
            finding("a.rs", "3"),
            finding("invented.rs", "1"),
            finding("a.rs", "-1"),
            finding("a.rs", "1"),
            finding("a.rs", "1"),
        );
        let opinion = read(&said).unwrap();
        assert_eq!((opinion.findings.len(), opinion.dropped), (1, 6));
    }

    #[test]
    fn nonsense_is_no_answer() {
        let deep = "{\"score\":".repeat(10_000);
        for said in ["", "Looks good to me!", "{}", "{\"score\": 11, \"findings\": []}", "{\"score\": 3}", "{{{", &deep]
        {
            assert_eq!(read(said), None, "{}", &said[..said.len().min(40)]);
        }
        assert_eq!(Advice::read("{\"recommendation\": \"  \"}"), None);
    }

    #[test]
    fn advice_is_read_and_shortened() {
        let said = format!("{{\"cause\": \"c\", \"recommendation\": \"{}\"}}", "ä".repeat(2_000));
        assert_eq!(Advice::read(&said).unwrap().recommendation.chars().count(), TEXT);
    }

    #[test]
    fn each_expert_has_a_line() {
        let advice = |cause: &str| Advice { cause: cause.into(), recommendation: "Close it.".into() };
        let panel = [(Expert::Correctness, advice("The file stays open.")), (Expert::Tests, advice(""))];
        assert_eq!(
            advice_text(&panel).as_deref(),
            Some("correctness: The file stays open. Close it.\ntests: Close it.")
        );
        assert_eq!(advice_text(&[]), None);
    }
}
