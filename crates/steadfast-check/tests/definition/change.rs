//! What counts as a change of a check.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use steadfast_check::definition::{Definition, define};

use crate::project::Project;

const PACKAGE: &str = r#"{"name": "x", "scripts": {"test": "vitest run", "lint": "eslint ."}, "dependencies": {}}"#;

#[test]
fn a_script_that_became_true_is_noticed() {
    let project = Project::with(&[("package.json", PACKAGE)]);
    let now = PACKAGE.replace("vitest run", "true");
    assert_eq!(
        project.difference("npm test", "package.json", &now),
        ["package.json script `test` was `vitest run`, is `true`"]
    );
}

#[test]
fn other_bytes_of_the_manifest_are_no_change() {
    let project = Project::with(&[("package.json", PACKAGE)]);
    let now = r#"{
        "scripts": {"build": "tsc", "lint": "true", "test": "vitest run"},
        "dependencies": {"zod": "^4"}
    }"#;
    assert_eq!(project.difference("npm test", "package.json", now), [""; 0]);
}

#[test]
fn a_script_before_or_after_is_a_change() {
    for when in ["pretest", "posttest"] {
        let project = Project::with(&[("package.json", PACKAGE)]);
        let now = PACKAGE.replace("{\"test\"", &format!("{{\"{when}\": \"rm -r tests\", \"test\""));
        assert_eq!(
            project.difference("npm test", "package.json", &now),
            [format!("package.json script `{when}` was missing, is `rm -r tests`")]
        );
    }
}

#[test]
fn a_script_that_another_calls_counts() {
    let package = r#"{"scripts": {"test": "npm run unit && yarn e2e", "unit": "vitest", "e2e": "playwright test"}}"#;
    let project = Project::with(&[("package.json", package)]);
    let now = package.replace("playwright test", "true");
    assert_eq!(
        project.difference("npm t", "package.json", &now),
        ["package.json script `e2e` was `playwright test`, is `true`"]
    );
    let now = package.replace("npm run unit && ", "");
    let lines = project.difference("npm t", "package.json", &now);
    assert!(lines.contains(&"package.json script `unit` was `vitest`, is no longer used".to_owned()), "{lines:?}");
}

#[test]
fn a_script_that_takes_the_place_of_a_program_is_noticed() {
    let project = Project::with(&[("package.json", PACKAGE)]);
    let now = PACKAGE.replace("{\"test\"", "{\"vitest\": \"true\", \"test\"");
    assert_eq!(
        project.difference("yarn vitest", "package.json", &now),
        ["package.json script `vitest` was missing, is `true`"]
    );
}

#[test]
fn a_recipe_that_changed_is_noticed_and_its_neighbours_are_not() {
    let makefile = "CC = cc\nall: test\ntest: build\n\tpytest -q\nbuild:\n\t$(CC) x.c\nother:\n\techo\n";
    let project = Project::with(&[("Makefile", makefile)]);
    assert_eq!(
        project.difference("make test", "Makefile", &makefile.replace("echo", "true\n\nmore: other\n\tx")),
        [""; 0]
    );
    assert_eq!(
        project.difference("make test", "Makefile", &makefile.replace("pytest -q", "true")),
        ["Makefile recipe `test` was `pytest -q`, is `true`"]
    );
    project.write("Makefile", makefile);
    assert_eq!(
        project.difference("make", "Makefile", &makefile.replace("CC = cc", "CC = true")),
        ["Makefile variable `CC` was `cc`, is `true`"]
    );
    project.write("Makefile", makefile);
    assert_eq!(
        project.difference("make test", "Makefile", &makefile.replace("test: build", "test:")),
        [
            "Makefile recipe `build` was `$(CC) x.c`, is no longer used",
            "Makefile variable `CC` was `cc`, is no longer used"
        ]
    );
}

#[test]
fn another_way_to_run_every_recipe_or_script_is_noticed() {
    let project = Project::with(&[
        ("Makefile", "test:\n\tpytest\n"),
        ("justfile", "test:\n  pytest\n"),
        ("package.json", PACKAGE),
    ]);
    for (command, path, text, line) in [
        (
            "make test",
            "Makefile",
            "SHELL = /bin/true\ntest:\n\tpytest\n",
            "Makefile variable `SHELL` was missing, is `/bin/true`",
        ),
        (
            "just test",
            "justfile",
            "set shell := ['true']\ntest:\n  pytest\n",
            "justfile setting `shell` was missing, is `['true']`",
        ),
        (
            "npm test",
            ".npmrc",
            "script-shell = /bin/true\n",
            ".npmrc setting `script-shell` was missing, is `/bin/true`",
        ),
        ("make test", "GNUmakefile", "test:\n\ttrue\n", "GNUmakefile recipe `test` was missing, is `true`"),
    ] {
        let lines = project.difference(command, path, text);
        assert!(lines.contains(&line.to_owned()), "{lines:?}");
    }
}

#[test]
fn a_file_that_keeps_make_from_running_is_noticed() {
    let makefile = "test:\n\tgo test ./...\nlint:\n\tx\n.PHONY: lint\napp:\n\tcc -o app x.c\n";
    let project = Project::with(&[("Makefile", makefile)]);
    assert_eq!(
        project.difference("make test", "test", ""),
        ["test in the place of target `test` was missing, is not a script"]
    );
    assert_eq!(project.difference("make lint", "lint", ""), [""; 0]);
    assert_eq!(project.difference("make app", "app", ""), [""; 0]);
}

#[test]
fn what_cannot_be_taken_apart_counts_as_a_whole() {
    for (command, path, text) in [
        ("npm test", "package.json", "{\"scripts\": // no JSON\n{}}"),
        ("deno task test", "deno.jsonc", "{\"tasks\": {\"test\": \"x\"}} // all"),
        ("make test", "Makefile", "$(eval test: ; pytest)\n"),
    ] {
        let project = Project::with(&[(path, text)]);
        let lines = project.difference(command, path, &format!("{text}\n"));
        assert_eq!(lines, [format!("`{path}` has different content")], "{command}");
    }
}

#[test]
fn a_test_file_is_not_the_check() {
    let project = Project::with(&[("package.json", PACKAGE), ("tests/a.test.js", "old"), ("test_a.py", "old")]);
    for command in
        ["npm test", "npx vitest run tests/a.test.js", "node --test tests/a.test.js", "python -m pytest test_a.py"]
    {
        let was = project.define(command);
        project.write("tests/a.test.js", command);
        project.write("test_a.py", command);
        assert_eq!(was.difference(&project.define(command)), [""; 0], "{command}");
    }
}

#[test]
fn a_script_file_is_the_check_as_a_whole() {
    for command in ["./check.sh", "bash check.sh -v", "sh < check.sh", ". ./check.sh", "cd sub && ../check.sh"] {
        let project = Project::with(&[("check.sh", "#!/bin/sh\npytest\n"), ("sub/x", "")]);
        assert_eq!(
            project.difference(command, "check.sh", "#!/bin/sh\nexit 0\n"),
            ["`check.sh` has different content"],
            "{command}"
        );
    }
}

#[test]
fn what_was_not_there_is_noticed_when_it_is() {
    let project = Project::with(&[]);
    let was = project.define("npm test && ./check.sh && make x");
    let missing: Vec<String> = was.missing().map(ToString::to_string).collect();
    assert_eq!(missing, ["Makefile recipe `x`", "`check.sh`", "package.json script `test`"]);
    project.write("check.sh", "true");
    assert_eq!(
        project.difference("npm test", "package.json", PACKAGE),
        ["package.json script `test` was missing, is `vitest run`"]
    );
    assert_eq!(was.difference(&project.define("npm test && ./check.sh && make x")).len(), 2);
}

#[test]
fn what_is_gone_is_noticed() {
    let project = Project::with(&[("package.json", PACKAGE), ("check.sh", "x")]);
    let was = project.define("npm test; ./check.sh");
    fs::remove_file(project.root().join("check.sh")).unwrap();
    project.write("package.json", "{ broken");
    let lines = [
        "`check.sh` was a file, is gone",
        "package.json script `test` was `vitest run`, is no longer used",
        "`package.json` was missing, is a file",
    ];
    assert_eq!(was.difference(&project.define("npm test; ./check.sh")), lines);
}

#[test]
fn a_program_that_is_built_may_be_another_one_each_time() {
    let project = Project::with(&[("out/app", "\x7fELF\0\0one")]);
    assert_eq!(project.difference("./out/app --self-test", "out/app", "\x7fELF\0\0two"), [""; 0]);
    assert_eq!(project.difference("./out/app", "out/app", "exit 0"), ["`out/app` was not a script, is a file"]);
}

#[test]
fn of_long_texts_the_place_where_they_part_is_shown() {
    let long = "x".repeat(300);
    let text = |end: &str| format!(r#"{{"scripts": {{"test": "{long}{end}"}}}}"#);
    let project = Project::with(&[("package.json", &text("vitest"))]);
    let [line] = &project.difference("npm test", "package.json", &text("true"))[..] else { panic!("one line") };
    assert!(line.contains("xvitest`, is `…") && line.ends_with("xtrue`") && line.len() < 250, "{line}");
}

#[test]
fn a_definition_survives_being_written_down() {
    let project = Project::with(&[("package.json", PACKAGE), ("a.sh", "x"), ("b", "\0")]);
    let was = project.define("npm test; sh a.sh; ./b; make");
    let text = serde_json::to_string(&was).unwrap();
    assert_eq!(serde_json::from_str::<Definition>(&text).unwrap(), was);
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_it() {
    let project = Project::with(&[("check.sh", &"x".repeat(5 << 20))]);
    let error = define(project.root(), project.root(), "./check.sh").unwrap_err().to_string();
    assert!(error.ends_with("check.sh` is larger than 4 MiB, too large for a script or a manifest"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_else_a_manifest_says_the_check_is_the_same(
        dependencies: BTreeMap<String, String>,
        others in prop::collection::btree_map("x-[a-z]{1,4}", "\\PC*", 0..4),
        pretty: bool,
    ) {
        let project = Project::with(&[("package.json", PACKAGE)]);
        let mut scripts = serde_json::json!(others);
        scripts["test"] = "vitest run".into();
        let now = serde_json::json!({"dependencies": dependencies, "scripts": scripts, "type": "module"});
        let now = if pretty { serde_json::to_string_pretty(&now) } else { serde_json::to_string(&now) };
        prop_assert_eq!(project.difference("npm test", "package.json", &now.unwrap()), [""; 0]);
    }

    #[test]
    fn whatever_else_a_script_says_it_is_noticed(text in "[ -~]{0,30}") {
        prop_assume!(text != "vitest run");
        let project = Project::with(&[("package.json", PACKAGE)]);
        let now = serde_json::json!({"scripts": {"test": text}}).to_string();
        prop_assert!(!project.difference("npm test", "package.json", &now).is_empty());
    }
}
