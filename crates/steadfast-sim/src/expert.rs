//! The simulated expert: it answers in the requested form and changes nothing.
//!
//! Markers in a change decide its findings: `[sim:blocker]`, `[sim:warning]` and `[sim:suggestion]` on an added line
//! are findings there. `[sim:blocker once]` is a finding only if no earlier round had blockers. Other markers cause
//! faulty answers: `[sim:invents]` returns a finding in a file outside the change, `[sim:nonsense]` answers with prose
//! only, `[sim:endless]` never answers.

use serde_json::{Value, json};

/// Returns the answer. `None`: it never answers.
pub fn answer(brief: &str) -> Option<String> {
    if brief.contains("[sim:endless]") {
        return None;
    }
    if brief.contains("[sim:nonsense]") {
        return Some("Looks good to me, ship it!".to_owned());
    }
    let said = if brief.contains("\"recommendation\"") {
        json!({"cause": "The work was left out.", "recommendation": "Write the files that the task names.", "files": []})
    } else if brief.contains("\"verification\"") {
        spec(brief)
    } else {
        review(brief)
    };
    Some(format!("I looked at it.\n\n```json\n{said}\n```"))
}

fn review(brief: &str) -> Value {
    let again = brief.contains("An earlier round");
    let mut findings = Vec::new();
    let (mut file, mut number) = ("", 0u32);
    for line in brief.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            file = path.split(" (").next().unwrap_or(path);
        } else if let Some(first) = line.strip_prefix("@@ line ") {
            number = first.trim_end_matches(" @@").parse().unwrap_or(0);
        } else if line.starts_with(['+', ' ']) {
            if line.starts_with('+') {
                findings.extend(found(line, again).map(|severity| {
                    json!({"severity": severity, "file": file, "line": number, "text": "It says so itself."})
                }));
            }
            number += 1;
        }
    }
    if brief.contains("[sim:invents]") {
        findings.push(json!({"severity": "BLOCKER", "file": "src/imagined.rs", "line": 7, "text": "It is wrong."}));
    }
    let score = 9 - findings.len().min(9);
    json!({"score": score, "findings": findings})
}

fn found(line: &str, again: bool) -> Option<&'static str> {
    let asked = |marker: &str| line.contains(marker);
    if asked("[sim:blocker]") || (asked("[sim:blocker once]") && !again) {
        Some("BLOCKER")
    } else if asked("[sim:warning]") {
        Some("WARNING")
    } else if asked("[sim:suggestion]") {
        Some("SUGGESTION")
    } else {
        None
    }
}

/// Returns a spec with a task for each file that the request names.
fn spec(brief: &str) -> Value {
    let request = brief.split("```").nth(1).unwrap_or(brief).trim();
    let is_path = |word: &&str| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    };
    let words = request.split(|letter: char| letter.is_whitespace() || "`\"',;:()".contains(letter));
    let mut paths: Vec<&str> = words.map(|word| word.trim_end_matches('.')).filter(is_path).collect();
    paths.dedup();
    if paths.is_empty() {
        paths.push("NOTES.md");
    }
    let tasks: Vec<Value> = (1..)
        .zip(&paths)
        .map(|(number, path)| {
            let (id, task) = (format!("1.{number}"), format!("Write {path}"));
            json!({"id": id, "task": task, "files": [path], "verification": format!("test -s '{path}'")})
        })
        .collect();
    json!({
        "feature": request.lines().next().unwrap_or(request).chars().take(60).collect::<String>(),
        "description": request,
        "phases": [{"id": "phase-1", "name": "Work", "tasks": tasks}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review_of(line: &str, more: &str) -> Value {
        let brief = format!("{more}\n--- a.rs (new)\n@@ line 4 @@\n one\n+{line}\n \"findings\"");
        let said = answer(&brief).unwrap();
        let json = &said[said.find('{').unwrap()..said.rfind('}').unwrap() + 1];
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn it_finds_what_a_line_says_where_it_says_it() {
        let said = review_of("x [sim:blocker]", "");
        assert_eq!(said["findings"][0]["line"], 5);
        assert_eq!((said["findings"][0]["severity"].as_str(), said["score"].as_u64()), (Some("BLOCKER"), Some(8)));
        assert_eq!(review_of("x", "")["findings"], json!([]));
        assert_eq!(review_of("x [sim:blocker once]", "An earlier round found these blockers")["findings"], json!([]));
    }

    #[test]
    fn a_spec_has_a_task_for_each_file_that_is_named() {
        let said = answer("```\nWrite `a.txt` and src/b.rs.\n```\n{\"verification\": …}").unwrap();
        assert!(said.contains("test -s 'a.txt'") && said.contains("test -s 'src/b.rs'"), "{said}");
    }
}
