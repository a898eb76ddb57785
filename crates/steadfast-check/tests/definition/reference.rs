//! What a command line refers to, before anything is read.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use steadfast_check::definition::{ReferenceTarget, references};

/// One word for each reference.
fn seen(command: &str) -> Vec<String> {
    let word = |target: ReferenceTarget| match target {
        ReferenceTarget::PackageScript { name, everywhere, or_program } => {
            format!("script {name}{}{}", if everywhere { " everywhere" } else { "" }, if or_program { "?" } else { "" })
        }
        ReferenceTarget::MakeTarget { name, .. } => format!("make {}", name.unwrap_or_default()),
        ReferenceTarget::JustRecipe { name, .. } => format!("just {}", name.unwrap_or_default()),
        ReferenceTarget::Task { name } => format!("task {name}"),
        ReferenceTarget::Entry(entry) => format!("{} {}", entry.noun, entry.name),
        ReferenceTarget::File { path, .. } => format!("file {}", path.display()),
    };
    references(command, Path::new("/r")).into_iter().map(|found| word(found.target)).collect()
}

#[test]
fn scripts_are_seen_however_they_are_called() {
    for (command, expected) in [
        ("npm test", "script test"),
        ("npm t -- --watch=false", "script test"),
        ("npm run-script x", "script x"),
        ("npm run --silent x", "script x"),
        ("npm --silent run x -- y", "script x"),
        ("CI=1 npm test", "script test"),
        ("env -i A=b npm test", "script test"),
        ("timeout -k 5 60 npm test", "script test"),
        ("time npm test 2>&1", "script test"),
        ("sh -c 'npm test'", "script test"),
        ("bash -lc \"npm test\"", "script test"),
        ("! npm test", "script test"),
        ("yarn x", "script x?"),
        ("yarn test", "script test"),
        ("pnpm x", "script x?"),
        ("bun run x", "script x?"),
        ("bun run tools/x.ts", "file tools/x.ts"),
        ("npx tsx tools/x.ts", "file tools/x.ts"),
        ("npm exec -- tsx tools/x.ts", "file tools/x.ts"),
        ("uv run python tools/x.py --flag", "file tools/x.py"),
        ("python3.12 -W error tools/x.py", "file tools/x.py"),
        ("node --import tsx tools/x.js", "file tools/x.js"),
        ("bash -euo pipefail x.sh", "file x.sh"),
        ("bash -euo pipefail -c 'make x'", "make x"),
        ("go run tools/x.go", "file tools/x.go"),
        ("sudo -E make x", "make x"),
        ("make", "make "),
        ("just x", "just x"),
        ("task x -- y", "task x"),
        ("cargo +nightly xtask x", "alias xtask"),
        ("echo $(make x)", "make x"),
        ("nox -s tests", "file noxfile.py"),
    ] {
        assert_eq!(seen(command), [expected], "{command}");
    }
}

#[test]
fn every_command_of_a_list_is_seen() {
    assert_eq!(
        seen("npm run a && (make b | tee log; ./c.sh) || just d &"),
        ["script a", "make b", "file ./c.sh", "just d"]
    );
}

#[test]
fn a_folder_that_is_entered_holds_for_what_follows() {
    let found = references("cd a && make x; (cd b; make y); cd ../c; make z", Path::new("/r"));
    let folders: Vec<PathBuf> = found.into_iter().map(|found| found.directory).collect();
    assert_eq!(folders, ["/r/a", "/r/a/b", "/r/c"].map(PathBuf::from));
}

#[test]
fn words_in_quotes_are_no_commands() {
    assert_eq!(seen("echo 'npm test; make x' \"./a.sh\" # make y"), [""; 0]);
}

proptest! {
    #[test]
    fn any_command_line_is_read(
        command in "[a-z ./$()'\"`&|;<>=\\-\n]{0,80}",
        words in prop::collection::vec("npm|run|make|-C|cd|sh|-c|just|cargo|env|timeout|x|--", 0..8),
    ) {
        references(&command, Path::new("/r"));
        references(&words.join(" "), Path::new("/r"));
    }
}
