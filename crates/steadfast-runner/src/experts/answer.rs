//! What an expert answered. A model wrote it: whatever cannot be read, or names a place that is not in the change, does
//! not count.

use std::fmt::Write;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use steadfast_model::FindingSeverity;

use super::diff::Diff;
use super::expert::Expert;

/// An answer is a short text. What is longer is not read to its end.
const LONGEST: usize = 256 << 10;
/// How many places in it may be the beginning of the answer.
const TRIES: usize = 4_000;
/// The most of one finding that is kept, in characters.
const TEXT: usize = 600;
/// More findings than that are nobody's review.
const FINDINGS: usize = 40;

/// What should be done differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub cause: String,
    pub recommendation: String,
}

/// What one expert thinks of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpertOpinion {
    /// 0 to 10.
    pub score: u8,
    pub findings: Vec<Noted>,
    /// Findings that name no place in the change.
    pub dropped: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub severity: FindingSeverity,
    pub file: String,
    pub line: u32,
    pub text: String,
    /// The one it breaks.
    pub must_not: Option<String>,
}

impl Advice {
    /// None: this is no answer.
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
    /// None: this is no answer.
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

/// The last JSON object in a text that has the wanted form, and is in no other.
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
            // What is inside of an object is not an answer of its own.
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

/// What a panel recommends, as the next attempt is told. None: nobody said anything that can be read.
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
