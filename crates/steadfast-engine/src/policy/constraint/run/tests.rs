use super::*;

fn ran(command: &str) -> Vec<String> {
    runs_of(command).iter().map(|run| run.join(" ")).collect()
}

#[test]
fn every_spelling_of_a_command_is_found() {
    for command in [
        "git commit",
        "cd x && git commit",
        "if true; then git commit; fi",
        "(git commit)",
        "{ git commit; }",
        "x=$(git commit)",
        "echo `git commit`",
        "echo \"$(git commit)\"",
        "bash -c 'git commit'",
        "bash -lc \"git commit\"",
        "sh <<'EOF'\ngit commit\nEOF",
        "echo 'git commit' | sh",
        "bash <<< 'git commit'",
        "eval 'git commit'",
        "eval git commit",
        "env A=1 git commit",
        "A=1 B=2 git commit",
        "env -u A git commit",
        "sudo -u me git commit",
        "timeout 5 git commit",
        "nohup git commit &",
        "echo a | xargs git commit",
        "find . -maxdepth 0 -exec git commit \\;",
        "'git' \"commit\"",
        "g\\it com\"mi\"t",
        "/usr/bin/git commit",
        "g=git; $g commit",
        "c=commit\ngit ${c}",
        "c='git commit'; $c",
        "python3 -c \"import os; os.system('git commit')\"",
        "python3 -c \"import subprocess; subprocess.run(['git', 'commit'])\"",
        "node -e 'require(\"child_process\").execSync(\"git commit\")'",
        "ls # a comment\ngit commit",
        "git \\\n commit",
        "while read f; do git commit; done < list",
        "2>/dev/null git commit",
        "git commit 2>&1",
    ] {
        assert!(ran(command).iter().any(|run| run.starts_with("git commit")), "{command}: {:?}", ran(command));
    }
}

#[test]
fn what_is_only_spoken_of_is_not_run() {
    for command in [
        "echo git commit",
        "grep -rn 'git commit' docs",
        "cat > x.sh <<'EOF'\ngit commit\nEOF",
        "ls # git commit",
        "git log --grep='git commit'",
        "python3 -c \"print('git commit')\"",
        "printf 'git commit'",
    ] {
        assert!(!ran(command).iter().any(|run| run == "git commit"), "{command}: {:?}", ran(command));
    }
}

#[test]
fn what_a_launcher_runs_is_run() {
    for command in ["npx --yes jest -x", "uv run jest -x", "pnpm exec jest -x", "python3 -m jest -x"] {
        assert!(ran(command).iter().any(|run| run == "jest -x"), "{command}: {:?}", ran(command));
    }
}
