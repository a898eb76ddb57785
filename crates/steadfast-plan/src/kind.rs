//! Types of tasks in the words that people have for them.

use steadfast_model::TaskType;

/// The type that a word stands for. `None`: none is known.
pub(crate) fn kind(word: &str) -> Option<TaskType> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    Some(match word.as_str() {
        "ui" | "ux" | "ui/ux" | "frontend" | "front-end" | "fe" | "page" | "component" | "styling" | "css" => {
            TaskType::Ui
        }
        "backend" | "back-end" | "be" | "api" | "endpoint" | "server" | "service" | "db" | "database" | "sql"
        | "data" | "migration" | "schema" | "infra" | "infrastructure" | "devops" | "ops" | "ci" | "ci/cd"
        | "deployment" | "security" => TaskType::Backend,
        "func" | "function" | "functional" | "feature" | "feat" | "logic" | "lib" | "library" | "core" | "cli"
        | "code" | "test" | "tests" | "testing" | "qa" | "unit-test" | "e2e" | "integration" | "bug" | "bugfix"
        | "fix" | "refactor" | "refactoring" | "perf" | "performance" => TaskType::Func,
        "docs" | "doc" | "documentation" | "readme" | "manual" | "guide" => TaskType::Docs,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_everyday_use_are_types() {
        for (word, is) in [
            ("Frontend", Some(TaskType::Ui)),
            ("api", Some(TaskType::Backend)),
            ("infra", Some(TaskType::Backend)),
            ("DB", Some(TaskType::Backend)),
            ("test", Some(TaskType::Func)),
            ("Documentation", Some(TaskType::Docs)),
            ("poem", None),
        ] {
            assert_eq!(kind(word), is, "{word}");
        }
        for known in TaskType::ALL {
            assert_eq!(kind(known.as_str()), Some(known));
        }
    }
}
