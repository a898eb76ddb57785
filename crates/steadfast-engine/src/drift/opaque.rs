//! Programs whose command line does not say what they write.

use steadfast_shell::{Argument, Invocation, Op, Reading};

/// What only looks or talks to others, what says in its arguments what it writes, and what runs something that stands in
/// the command line itself. Git is among them: what it puts into the checkout was committed before.
const KNOWN: &str = ". [ [[ : awk base64 basename break builtin cat cd chmod chown cmp column comm command continue cp curl \
    cut date declare df diff dirname du echo egrep env eval exec exit export false fgrep file find fold gh git grep groups \
    head hexdump hostname id install jobs join jq kill less let link ln local ls lsof man md5sum mkdir mktemp more mv nice \
    nl nohup od open paste pgrep ping pkill popd printenv printf ps pushd pwd read readlink realpath return rg rm rmdir \
    sed seq set sha256sum shift shopt sleep sort ss stat steadfast sudo tac tail tee test time timeout tmux touch tr trap \
    tree true type typeset ulimit umask uname uniq unlink unset uptime wait wc wget whereis which whoami xargs xxd yes";

/// Of these, what only looks, or writes where git does not look.
const KNOWN_WORDS: [(&str, &str); 4] = [
    ("cargo", "build check clippy doc metadata tree search"),
    ("go", "build doc env list version vet"),
    ("npm", "view ls list outdated audit why"),
    ("docker", "ps images logs inspect"),
];

/// Whether a command line may write what it does not show.
pub(super) fn is_opaque(reading: &Reading) -> bool {
    let unread = reading.effects.iter().any(|effect| effect.op == Op::Exec);
    !reading.parsed || unread || reading.runs().any(is_unknown)
}

fn is_unknown(invocation: &Invocation) -> bool {
    let words = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let Some(program) = invocation.argv.first().and_then(Argument::known) else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    let first = invocation.arguments().first().and_then(Argument::known).unwrap_or_default();
    let asks = matches!(first, "--version" | "--help" | "-h" | "-V");
    let known = || KNOWN_WORDS.iter().any(|(name, list)| *name == program && words(list, first));
    !asks && !words(KNOWN, program) && !known()
}

#[cfg(test)]
mod tests {
    use steadfast_shell::{Context, effects};

    use super::*;

    fn opaque(command: &str) -> bool {
        is_opaque(&effects(command, &Context { cwd: "/repo".into(), home: "~".into() }))
    }

    #[test]
    fn what_runs_code_of_the_project_may_write_anything() {
        for command in
            ["python3 gen.py", "cd web && ./build.sh | tail", "timeout 5 make all", "npm run fix", "$TOOL x", "if then"]
        {
            assert!(opaque(command), "{command}");
        }
    }

    #[test]
    fn what_looks_or_says_what_it_writes_is_known() {
        for command in [
            "git log --oneline | head -5",
            "cp a b && sed -i s/a/b/ c",
            "for f in *.rs; do grep -n x \"$f\"; done",
            "cargo build 2>&1 | tail -3",
            "python3 --version",
            "git stash pop",
        ] {
            assert!(!opaque(command), "{command}");
        }
    }

    /// Two of five, test runners and task runners most of all.
    #[test]
    fn most_commands_are_followed_by_no_look() {
        let place =
            option_env!("STEADFAST_CORPORA").unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora"));
        let list = std::path::Path::new(place).join("benign_commands.tsv");
        let Ok(text) = std::fs::read_to_string(list) else { return };
        let (mut all, mut asked) = (0, 0);
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let times: u32 = columns[0].parse().unwrap();
            let command = columns[4].replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\");
            all += times;
            asked += if opaque(&command) { times } else { 0 };
        }
        assert!(asked * 2 < all, "{asked} of {all}");
    }
}
