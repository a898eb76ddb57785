//! Beside the real bash: what it reads, and what its commands really change.

#![expect(clippy::unwrap_used, reason = "a scene that cannot be set is a failure")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use steadfast_shell::{Context, Op, effects};
use steadfast_testkit::skip;

/// `None` after a skip: there is no bash.
#[expect(clippy::disallowed_methods, reason = "the real bash is what this compares with")]
fn bash() -> Option<Command> {
    let found =
        Command::new("bash").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        skip("bash", &"`bash` is missing");
        return None;
    }
    Some(Command::new("bash"))
}

/// Whether bash takes it. It exits with 0 behind some errors in `[[`: what it says counts.
fn bash_reads(text: &str) -> bool {
    let Some(mut bash) = bash() else { return true };
    let output = bash.args(["-n", "-c", "--", text]).env("LC_ALL", "C").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success() && said.lines().all(|line| line.contains("warning"))
}

fn context(root: &str) -> Context {
    Context { cwd: root.to_owned(), home: format!("{root}/home") }
}

const READ: &[&str] = &include!("bash/read.txt");

#[test]
fn what_bash_reads_is_read_and_what_it_refuses_is_not() {
    if bash().is_none() {
        return;
    }
    let wrong: Vec<&&str> =
        READ.iter().filter(|text| effects(text, &context("/repo")).parsed != bash_reads(text)).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), READ.len());
}

/// Always the same cases: a run that fails can be run again.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Pieces that put together are sometimes bash and sometimes not.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "echo",
        " ",
        " ",
        " ",
        "a",
        "b=c",
        "'q'",
        "\"d\"",
        "$x",
        "${x:-y}",
        "$(ls)",
        "`ls`",
        "$((1))",
        "((1))",
        "[[ a ]]",
        "; ",
        "\n",
        " && ",
        " || ",
        " | ",
        " & ",
        " > f",
        " 2>&1",
        " < g",
        "<<E\nE\n",
        "(",
        ")",
        "{ ",
        "; }",
        "if ",
        "then ",
        "else ",
        "fi",
        "for i in a; ",
        "while ",
        "do ",
        "done",
        "case x in ",
        "a) ",
        ";;",
        "esac",
        "f() ",
        "!",
        "time ",
        "#",
        "\\",
        "'",
        "\"",
        "$",
        "`",
        "${",
        "}",
        "<(",
        ">&",
        "&>",
        "|&",
        "=(",
        "[",
        "]]",
        "in ",
        "*",
        "~",
        "{a,b}",
        "\\\n",
        "$'x'",
        "<<<",
        "$((",
        "))",
    ])
}

#[test]
fn generated_text_is_read_as_bash_reads_it() {
    if bash().is_none() {
        return;
    }
    let mut runner = runner(400);
    let text = prop::collection::vec(piece(), 1..9).prop_map(|pieces| pieces.concat());
    let outcome = runner.run(&text, |text| {
        prop_assert_eq!(effects(&text, &context("/repo")).parsed, bash_reads(&text), "{:?}", text);
        Ok(())
    });
    outcome.unwrap();
}

/// The files and folders below `root`, with what is in them and their modes.
fn files(root: &Path) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                format!("{:?}", fs::read_link(&path).unwrap())
            } else if metadata.is_dir() {
                folders.push(path.clone());
                "a folder".to_owned()
            } else if !metadata.is_file() {
                "a pipe".to_owned()
            } else {
                let time = metadata.modified().unwrap();
                format!("{:?} {:?} {time:?}", fs::read(&path).unwrap_or_default(), metadata.permissions())
            };
            found.insert((path.to_string_lossy().into_owned(), content));
        }
    }
    found
}

/// A folder with a few files, new for every command.
fn scene() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["home", "d/e", "s"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    for (file, content) in [("a", "1\n2\n"), ("b", "x\n"), ("d/c", "c\n"), ("d/e/f.txt", "f\n"), ("s/run.txt", "a b\n")]
    {
        fs::write(dir.path().join(file), content).unwrap();
    }
    dir
}

/// Runs it in the folder, with its own home and the plainest of paths.
fn run(command: &str, root: &Path) {
    let Some(mut bash) = bash() else { return };
    bash.args(["-c", "ulimit -t 5 -f 1000; exec timeout -k 1 5 bash --norc --noprofile -c \"$0\"", command])
        .current_dir(root)
        .env_clear()
        .env("HOME", root.join("home"))
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    bash.status().unwrap();
}

/// The paths that really changed and are no effect; empty where something is not known.
fn missed(command: &str) -> Vec<String> {
    let dir = scene();
    let root = fs::canonicalize(dir.path()).unwrap();
    let before = files(&root);
    let shown = root.to_string_lossy().into_owned();
    let reading = effects(command, &context(&shown));
    run(command, &root);
    let after = files(&root);
    if !reading.parsed || reading.effects.iter().any(|effect| effect.path.is_none() || effect.op == Op::Unknown) {
        return Vec::new();
    }
    let changed: BTreeSet<&String> = before.symmetric_difference(&after).map(|(path, _)| path).collect();
    let told = |path: &str| {
        reading.effects.iter().filter_map(|effect| effect.path.as_deref()).any(|effect| {
            // Inside what is written, moved or removed; or one of the folders made for it.
            let inside = match effect.split_once(['*', '?']) {
                Some((head, _)) => path.starts_with(head.trim_end_matches('/')),
                None => path == effect || path.starts_with(&format!("{effect}/")),
            };
            inside || effect.starts_with(&format!("{path}/"))
        })
    };
    // What git keeps for itself is not told.
    changed.into_iter().filter(|path| !path.contains("/.git") && !told(path)).cloned().collect()
}

/// What writes, with places for a file, a folder and a new name.
const WRITERS: &[&str] = &include!("bash/writers.txt");

#[test]
fn what_really_changes_is_among_the_effects() {
    if bash().is_none() {
        return;
    }
    let wrong: Vec<_> =
        WRITERS.iter().map(|command| (command, missed(command))).filter(|(_, missed)| !missed.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_generated_commands_change_is_among_their_effects() {
    if bash().is_none() {
        return;
    }
    let file = || {
        prop::sample::select(vec![
            "a",
            "b",
            "d/c",
            "d/e/f.txt",
            "./a",
            "d/../b",
            "new",
            "d/new",
            "\"a\"",
            "'d'/c",
            "$F",
            "${F%x}b",
            "d/e/*",
        ])
    };
    let writer = prop::sample::select(vec![
        "echo x > @",
        "cat < a >> @",
        "cp a @",
        "mv b @",
        "rm -f @",
        "touch @",
        "tee @ < a",
        "sed -i s/1/9/ @",
        "ln -sf a @",
        "truncate -s 1 @",
        "dd if=a of=@",
        "sort -o @ a",
        "install -m 600 a @",
        "printf %s z >| @",
        "chmod 600 @",
        "mkdir -p @",
        "awk '{print > \"w\"}' @",
        "perl -pi -e 's/x/y/' @",
        "gzip -f @",
        "tar cf @ a",
        "split -l 1 a @",
        "uniq a @",
    ]);
    let dressing = prop::sample::select(vec![
        "%",
        "(%)",
        "{ %; }",
        "if true; then %; fi",
        "for i in 1 2; do %; done",
        "bash -c '%'",
        "eval '%'",
        "env A=b bash -c \"%\"",
        "cd d && %",
        "(cd d; %); ls",
        "echo '%' | sh",
        "f() { %; }; f",
        "x=$(%)",
        "true && % || false",
        "sh <<'E'\n%\nE",
        "% | cat",
        "timeout 5 sh -c '%'",
        "F=b; %",
        "export F=d/c; %",
        "cat <(%)",
        "while :; do %; break; done",
        "case x in x) %;; esac",
    ]);
    let mut runner = runner(150);
    let outcome = runner.run(&(dressing, writer, file()), |(dressing, writer, file)| {
        let command = dressing.replace('%', &writer.replace('@', file));
        let missed = missed(&command);
        prop_assert!(missed.is_empty(), "{} changed {:?}", command, missed);
        Ok(())
    });
    outcome.unwrap();
}
