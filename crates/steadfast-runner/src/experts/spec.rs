//! From a request to a spec: the prompt for the agent that writes it, and the parser of its answer. The caller
//! compiles the spec.

use std::fmt::Write;

use super::answer::last;
use super::brief::ReviewBrief;
use crate::quote::fenced;

impl ReviewBrief {
    /// `problems` are those of the last attempt, one line each.
    pub fn spec(&self, request: &str, problems: &[String]) -> String {
        let mut text = format!(
            "You turn a request into a spec, and write no file: you read this checkout, and answer. The request:\n{}",
            fenced(request.trim())
        );
        self.wanted(&mut text);
        text.push_str(
            "\n\nEach task has one result, small enough for one session; the agent that does it knows only its text. Its \
             check is a command of this repository that tells right from wrong by its exit status, and that fails before \
             the work is done; nothing in it hides that status. Each task comes from the request. End your \
             answer with one JSON object and nothing after it:\n\
             {\"feature\": \"name\", \"description\": \"what is there afterwards\", \"verification_commands\": {\"test\": \
             \"command\"}, \"constraints\": [], \"success_criteria\": [], \"phases\": [{\"id\": \"phase-1\", \"name\": \"name\", \
             \"tasks\": [{\"id\": \"1.1\", \"task\": \"what\", \"type\": \"backend, func, ui or docs; may be left out\", \"files\": [\"path\"], \
             \"verification\": \"command\", \"notes\": \"what is special\", \"depends_on\": []}]}]}",
        );
        if !problems.is_empty() {
            text.push_str("\n\nThe last attempt could not be used:");
            for problem in problems.iter().take(20) {
                let _ = write!(text, "\n- {problem}");
            }
        }
        text
    }
}

/// Returns the spec in an answer, as JSON.
pub fn spec_of(said: &str) -> Option<String> {
    let found: serde_json::Map<String, serde_json::Value> = last(said)?;
    found.get("phases").or_else(|| found.get("tasks"))?.as_array().filter(|tasks| !tasks.is_empty())?;
    serde_json::to_string_pretty(&found).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brief_has_the_request_what_must_not_happen_and_what_was_wrong() {
        let review_brief = ReviewBrief { must_nots: vec!["no new dependencies".into()], ..ReviewBrief::default() };
        let text = review_brief.spec("Sign in with a code", &["line 3: no check".to_owned()]);
        for part in ["Sign in with a code", "no new dependencies", "line 3: no check", "verification"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(!review_brief.spec("x", &[]).contains("last attempt"));
    }

    #[test]
    fn a_spec_is_the_object_with_tasks_and_not_one_inside_it() {
        let said = "Here:\n```json\n{\"feature\": \"f\", \"phases\": [{\"name\": \"p\", \"tasks\": [{\"task\": \"t\"}]}]}\n```";
        let spec: serde_json::Value = serde_json::from_str(&spec_of(said).unwrap()).unwrap();
        assert_eq!(spec["feature"], "f");
        assert_eq!(spec_of("{\"phases\": []}"), None);
        assert_eq!(spec_of("no"), None);
    }
}
