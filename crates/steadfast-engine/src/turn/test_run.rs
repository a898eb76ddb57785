//! Which calls may have run tests. A call that cannot be judged may have.

use steadfast_model::{Action, ToolCall};
use steadfast_shell::{Argument, Invocation, Reading};

use crate::drift::only_looks;

/// Programs that build, check types, format or install, and run no test.
const WITHOUT_TESTS: &str = "biome black cc clang cmake eslint flake8 g++ gcc gofmt gofumpt goimports golangci-lint isort \
    markdownlint mypy pip pip3 prettier pylint pyright ruff rustc rustfmt rustup shellcheck shfmt tsc";

/// Words with which package managers and task runners run no test.
const OTHER_WORDS: &str = "add audit build bump check-types ci clean clippy codegen completions config create dev doc \
    docs down fmt format generate get i info init install link lint list login logs ls metadata migrate mod outdated \
    prettier preview ps publish remove rm serve show start stop sync tidy tree type-check typecheck types uninstall up \
    update upgrade version vet view watch";

/// Package managers and task runners.
const RUNNERS: &str = "bun cargo composer deno docker docker-compose dotnet go gradle just make mise mix mvn npm npx pnpm poetry rake rye task \
     turbo uv yarn";

/// Words before the one that names the task.
const LEADS: &str = "exec run run-script x --";

pub(super) fn may_run_tests(call: &ToolCall, reading: Option<&Reading>) -> bool {
    match &call.action {
        Action::Shell { .. } => reading.is_none_or(|reading| !reading.parsed || reading.runs().any(may_test)),
        Action::Delegate { .. } | Action::Skill { .. } => true,
        Action::Mcp { tool, .. } => ["test", "run", "exec", "shell", "command"].iter().any(|word| tool.contains(word)),
        // The result of a command in the background.
        Action::Other => matches!(call.tool.as_str(), "BashOutput" | "TaskOutput" | "write_stdin" | "wait"),
        Action::Write { .. } | Action::Read { .. } | Action::Ask | Action::LeavePlan | Action::List(_) => false,
    }
}

fn may_test(invocation: &Invocation) -> bool {
    let Some(program) = invocation.argv.first().and_then(Argument::known) else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    let mut words = invocation.arguments().iter().filter_map(Argument::known);
    match program {
        // Hooks of the repository may run the tests.
        "git" => {
            let skips = words.clone().any(|word| matches!(word, "--no-verify" | "--help"));
            !skips && words.any(|word| matches!(word, "commit" | "push" | "merge" | "rebase"))
        }
        // The results of the continuous integration.
        "gh" | "glab" => {
            words.next().is_some_and(|word| matches!(word, "run" | "workflow" | "ci"))
                || words.any(|word| matches!(word, "checks" | "merge"))
        }
        _ if is_in(RUNNERS, program) => {
            let named = words.find(|word| !is_in(LEADS, word) && !word.starts_with('-'));
            !named.is_some_and(|word| {
                is_in(OTHER_WORDS, word) || is_in(WITHOUT_TESTS, word) || (program == "cargo" && word == "check")
            })
        }
        _ => !only_looks(program) && !is_in(WITHOUT_TESTS, program),
    }
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
