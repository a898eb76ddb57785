//! What a release is: a binary that says what it is made of, and completions for every shell.

use crate::sandbox::Sandbox;

#[test]
fn the_long_version_says_what_it_was_built_from_and_the_short_one_does_not() {
    let sandbox = Sandbox::bare();
    assert_eq!(sandbox.ok(&["-V"]), format!("steadfast {}\n", env!("CARGO_PKG_VERSION")));
    let said = sandbox.ok(&["--version"]);
    let lines: Vec<_> = said.lines().collect();
    let [version, commit, target, profile] = lines[..] else { panic!("{said}") };
    assert_eq!(version, format!("steadfast {}", env!("CARGO_PKG_VERSION")));
    assert!(target.strip_prefix("target ").is_some_and(|name| name.matches('-').count() >= 2), "{said}");
    assert!(profile.strip_prefix("profile ").is_some_and(|name| !name.is_empty() && name != "unknown"), "{said}");
    let commit = commit.strip_prefix("commit ").unwrap();
    let parts: Vec<_> = commit.split(", ").collect();
    match parts[..] {
        ["unknown"] => {}
        [id, date] | [id, date, "dirty"] => {
            assert!(id.len() >= 7 && id.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
            assert!(date.len() == 10 && date.matches('-').count() == 2, "{commit}");
        }
        _ => panic!("{commit}"),
    }
}

/// The build script, built and run as cargo does it, with its sources in a repository of their own.
struct Script {
    dir: tempfile::TempDir,
}

impl Script {
    fn new() -> Self {
        let script = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(script.package()).unwrap();
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compile = std::process::Command::new(compiler);
        compile.args(["--edition", "2024", concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs"), "-o"]);
        assert!(compile.arg(script.dir.path().join("build")).status().unwrap().success());
        script
    }

    fn package(&self) -> std::path::PathBuf {
        self.dir.path().join("repo/crates/steadfast")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.current_dir(self.dir.path().join("repo")).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
        assert!(git.args(arguments).status().unwrap().success());
    }

    /// What the binary would say it was built from.
    fn commit(&self) -> String {
        let mut script = std::process::Command::new(self.dir.path().join("build"));
        script.current_dir(self.package()).env("TARGET", "x").env("OUT_DIR", "/t/dist/build/steadfast/out");
        let said = String::from_utf8(script.env("GIT_CEILING_DIRECTORIES", self.dir.path()).output().unwrap().stdout);
        let said = said.unwrap();
        let commit = said.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=STEADFAST_COMMIT="));
        commit.unwrap_or_else(|| panic!("{said}")).to_owned()
    }
}

#[test]
fn a_binary_that_is_not_built_from_a_commit_says_so() {
    let script = Script::new();
    assert_eq!(script.commit(), "unknown", "without a repository");
    script.git(&["init", "--quiet"]);
    assert_eq!(script.commit(), "unknown", "before the first commit");
    std::fs::write(script.package().join("lib.rs"), "").unwrap();
    script.git(&["add", "--all"]);
    script.git(&["commit", "--quiet", "--message=x"]);
    let clean = script.commit();
    assert!(clean.len() == "0123456789, 2026-11-15".len() && !clean.contains("dirty"), "{clean}");
    std::fs::write(script.package().join("lib.rs"), "changed").unwrap();
    assert_eq!(script.commit(), format!("{clean}, dirty"));
}

/// What the script of a shell offers for the last of these words.
fn offered(sandbox: &Sandbox, shell: &str, words: &[&str]) -> String {
    let mut command = sandbox.command();
    let index = (words.len() - 1).to_string();
    command.args(["--"]).args(words).env("STEADFAST_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index);
    let output = command.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_IFS", "\n").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_shell_gets_completions_without_what_is_hidden() {
    let sandbox = Sandbox::bare();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(script.contains("STEADFAST_COMPLETE") && script.contains("steadfast"), "{shell}: {script}");
        let words = offered(&sandbox, shell, &["steadfast", ""]);
        let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).collect();
        for command in ["init", "uninstall", "config", "clean", "completions"] {
            assert!(words.contains(&command), "{shell}: {command}: {words:?}");
        }
        assert!(!words.contains(&"sim") && !words.contains(&"supervise"), "{shell} offers what is hidden: {words:?}");
    }
}

#[test]
fn the_bash_script_completes_a_command() {
    let sandbox = Sandbox::bare();
    let script = sandbox.home().join("steadfast.bash");
    std::fs::write(&script, sandbox.ok(&["completions", "bash"])).unwrap();
    let ask = format!(
        "source '{}'; COMP_WORDS=(steadfast con); COMP_CWORD=1; COMP_TYPE=9; _clap_complete_steadfast steadfast con steadfast; \
         echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let mut bash = sandbox.command_of(std::path::Path::new("/bin/bash"));
    let output = bash.args(["--norc", "-c", &ask]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        "config",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn ids_of_tasks_plans_and_sessions_are_completed() {
    let sandbox = Sandbox::new();
    for title in ["First", "Second \u{1b}[2J"] {
        sandbox.ok(&["task", "add", title]);
    }
    sandbox.ok(&["task", "done", "1", "--force"]);
    sandbox.hook("SessionStart", "s-one", serde_json::json!({"source": "startup"}));
    sandbox.ok(&["status"]);
    let lines = |words: &[&str]| -> Vec<String> {
        offered(&sandbox, "bash", words).lines().map(str::to_owned).filter(|word| !word.starts_with('-')).collect()
    };
    assert_eq!(lines(&["steadfast", "task", "done", ""]), ["2"], "a done task is not done again");
    assert_eq!(lines(&["steadfast", "task", "show", ""]), ["1", "2"]);
    assert_eq!(lines(&["steadfast", "log", "--session", "s-"]), ["s-one"]);
    assert!(!offered(&sandbox, "fish", &["steadfast", "task", "show", ""]).contains('\u{1b}'));
}

#[test]
fn completing_without_a_repository_or_with_a_damaged_ledger_says_nothing() {
    let bare = Sandbox::bare();
    assert_eq!(
        offered(&bare, "bash", &["steadfast", "task", "show", ""]).lines().find(|word| !word.starts_with('-')),
        None
    );
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.place().state.join("state.db"), "no database").unwrap();
    assert_eq!(
        offered(&sandbox, "bash", &["steadfast", "task", "show", ""]).lines().find(|word| !word.starts_with('-')),
        None
    );
    assert_eq!(offered(&sandbox, "tcsh", &["steadfast", ""]), "");
}

#[test]
fn an_unknown_shell_is_answered_with_those_there_are() {
    let (code, said) = Sandbox::bare().fails(&["completions", "tcsh"]);
    assert_eq!(code, 64);
    assert!(said.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{said}");
}
