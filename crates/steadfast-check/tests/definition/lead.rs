//! Where command lines lead in a project.

use std::fs;

use steadfast_check::definition::define;

use crate::project::Project;

#[test]
fn the_nearest_manifest_is_meant() {
    let project = Project::with(&[
        ("package.json", r#"{"scripts": {"test": "outer"}}"#),
        ("app/package.json", r#"{"scripts": {"test": "inner"}}"#),
        ("app/src/x", ""),
        ("lib/x", ""),
    ]);
    for (command, part) in [
        ("npm test", "package.json script `test` = outer"),
        ("cd app/src && npm test", "app/package.json script `test` = inner"),
        ("(cd app); npm test", "package.json script `test` = outer"),
        ("npm --prefix app test", "app/package.json script `test` = inner"),
        ("yarn --cwd=app test", "app/package.json script `test` = inner"),
        ("pnpm -C app run test", "app/package.json script `test` = inner"),
        ("cd lib; npm test", "package.json script `test` = outer"),
    ] {
        assert_eq!(project.parts(command), [part], "{command}");
    }
    let below = define(project.root(), &project.root().join("app"), "npm test").unwrap();
    assert_eq!(below.parts[0].file, "app/package.json");
}

#[test]
fn a_manifest_outside_the_checkout_is_not_looked_for() {
    let project = Project::with(&[("package.json", r#"{"scripts": {"test": "outer"}}"#), ("inner/x", "")]);
    let inner = project.root().join("inner");
    let found = define(&inner, &inner, "npm test").unwrap();
    assert_eq!(found.missing().count(), 1);
}

#[test]
fn a_workspace_is_all_its_packages() {
    let project = Project::with(&[
        ("package.json", r#"{"workspaces": ["packages/*", "tool"], "scripts": {"all": "turbo run test"}}"#),
        ("packages/a/package.json", r#"{"scripts": {"test": "a"}}"#),
        ("packages/b/package.json", r#"{"scripts": {"test": "b"}}"#),
        ("tool/package.json", r#"{"scripts": {"pretest": "c", "test": "d"}}"#),
    ]);
    let everywhere = [
        "packages/a/package.json script `test` = a",
        "packages/b/package.json script `test` = b",
        "tool/package.json script `pretest` = c",
        "tool/package.json script `test` = d",
    ];
    for command in ["npm test --workspaces", "npm run test -w a", "pnpm -r test", "pnpm --filter a test", "turbo test"]
    {
        assert_eq!(project.parts(command), everywhere, "{command}");
    }
    assert_eq!(project.parts("npm run all").len(), 5);
}

#[test]
fn scripts_that_run_scripts_are_followed_and_circles_end() {
    let package = r#"{"scripts": {"test": "run-s unit:* && concurrently -k \"npm:watch\" 'sh tools/x.sh'",
        "unit:a": "tsx tools/a.ts", "unit:b": "npm test", "watch": "cross-env A=1 node tools/w.js"}}"#;
    let project = Project::with(&[
        ("package.json", package),
        ("tools/x.sh", "set -e\ncd \"$(dirname \"$0\")\"\nif true; then\n  ./y.sh\nfi\n"),
        ("tools/y.sh", "#!/usr/bin/env bash\npython3 z.py # \n"),
    ]);
    let parts = project.parts("npm test");
    assert_eq!(
        parts[..4],
        [
            "package.json script `test` = run-s unit:* && concurrently -k \"npm:watch\" 'sh tools/x.sh'",
            "package.json script `unit:a` = tsx tools/a.ts",
            "package.json script `unit:b` = npm test",
            "package.json script `watch` = cross-env A=1 node tools/w.js",
        ]
    );
    assert_eq!(
        parts[4..],
        [
            "`tools/a.ts` is missing",
            "`tools/w.js` is missing",
            "`tools/x.sh` = script",
            "`tools/y.sh` = script",
            "`tools/z.py` is missing"
        ]
    );
}

#[test]
fn recipes_lead_to_other_recipes_and_files() {
    let project = Project::with(&[
        ("Makefile", "include more.mk\nDIR = .\ntest: lint\n\t@$(MAKE) -C sub unit\n\t$(DIR)/run.sh $$HOME\n"),
        ("more.mk", "lint:\n\truff check\n"),
        ("sub/Makefile", "unit:\n\tpytest\n"),
        ("run.sh", "true"),
    ]);
    assert_eq!(
        project.parts("make -j 4 test V=1"),
        [
            "Makefile recipe `lint` = ruff check",
            "Makefile recipe `test` = @$(MAKE) -C sub unit\n$(DIR)/run.sh $$HOME",
            "`run.sh` = script",
            "sub/Makefile recipe `unit` = pytest",
        ]
    );
}

#[test]
fn just_and_task_are_read() {
    let project = Project::with(&[
        ("justfile", "test: build\n    pytest\nbuild:\n    npm run build\nother:\n    x\n"),
        (
            "Taskfile.yml",
            "tasks:\n  test:\n    deps: [gen]\n    cmds:\n      - ./go.sh\n  gen: go generate\n  other: x\n",
        ),
        ("go.sh", "x"),
    ]);
    let just = [
        "justfile recipe `build` = npm run build",
        "justfile recipe `test` = pytest",
        "package.json script `build` is missing",
    ];
    assert_eq!(project.parts("just test"), just);
    assert_eq!(project.parts("just"), just);
    assert_eq!(
        project.parts("task test"),
        [
            "Taskfile.yml task `gen` = go generate",
            "Taskfile.yml task `test` = deps: [gen]\ncmds:\n- ./go.sh",
            "`go.sh` = script"
        ]
    );
    assert_eq!(project.parts("just none"), ["justfile recipe `none` is missing"]);
    assert_eq!(project.parts("task none"), ["Taskfile.yml task `none` is missing"]);
}

#[test]
fn entries_of_other_manifests_are_read() {
    let project = Project::with(&[
        ("composer.json", r#"{"scripts": {"test": ["@lint", "phpunit"], "lint": "phpcs", "post-test": "x"}}"#),
        (
            "pyproject.toml",
            "[tool.poe.tasks]\ncheck = ['lint', 'unit']\nlint = 'ruff'\nunit = {cmd = 'pytest'}\n\
            [tool.pdm.scripts]\ntest = 'pytest'\npre_test = 'x'\n\
            [tool.hatch.envs.ci.scripts]\ntest = 'pytest -x'\n",
        ),
        (".cargo/config.toml", "[alias]\nxtask = 'run --package xtask --'\nci = ['xtask', 'test']\n"),
        ("deno.json", r#"{"tasks": {"test": "deno run -A tools/t.ts"}}"#),
        ("tools/t.ts", "x"),
        ("deep/below/x", ""),
    ]);
    for (command, parts) in [
        (
            "composer test",
            &[
                "composer.json script `lint` = phpcs",
                "composer.json script `post-test` = x",
                "composer.json script `test` = [\"@lint\",\"phpunit\"]",
            ][..],
        ),
        (
            "uv run poe check",
            &[
                "pyproject.toml task `check` = [\"lint\",\"unit\"]",
                "pyproject.toml task `lint` = ruff",
                "pyproject.toml task `unit` = {\"cmd\":\"pytest\"}",
            ],
        ),
        ("pdm run test", &["pyproject.toml script `pre_test` = x", "pyproject.toml script `test` = pytest"]),
        ("hatch run ci:test", &["pyproject.toml script `ci:test` = pytest -x"]),
        ("cargo xtask test", &[".cargo/config.toml alias `xtask` = run --package xtask --"]),
        ("cd deep/below && cargo xtask test", &[".cargo/config.toml alias `xtask` = run --package xtask --"]),
        ("deno task test", &["deno.json task `test` = deno run -A tools/t.ts", "`tools/t.ts` = script"]),
        ("cargo test --all", &[]),
        ("pdm run pytest", &[]),
        ("poe none", &["pyproject.toml task `none` is missing"]),
    ] {
        assert_eq!(project.parts(command), parts, "{command}");
    }
    assert_eq!(project.parts("cargo ci").len(), 2);
}

#[test]
fn a_command_that_is_its_own_definition_has_no_parts() {
    let project = Project::with(&[("package.json", "{}"), ("tests/a.py", "")]);
    for command in [
        "cargo test -p x",
        "cargo +nightly clippy -- -D warnings",
        "pytest tests/a.py -q",
        "go test ./...",
        "npx vitest run",
        "node_modules/.bin/jest",
        ".venv/bin/pytest",
        "/usr/bin/env pytest",
        "test -f tests/a.py",
        "grep -q x tests/a.py && echo ok",
        "$RUNNER tests/a.py",
        "python -c 'print(1)'",
        "bun test",
        "",
    ] {
        assert_eq!(project.parts(command), [""; 0], "{command}");
    }
}

#[test]
fn of_a_link_what_it_points_to_counts() {
    let project = Project::with(&[("real.sh", "one")]);
    std::os::unix::fs::symlink("real.sh", project.root().join("check.sh")).unwrap();
    assert_eq!(project.difference("./check.sh", "real.sh", "two"), ["`check.sh` has different content"]);
    fs::create_dir(project.root().join("folder")).unwrap();
    assert_eq!(project.parts("./folder"), ["`folder` is missing"]);
}
