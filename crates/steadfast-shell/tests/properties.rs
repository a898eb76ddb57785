//! What holds for any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use steadfast_shell::{Context, GuardDecision, effects, is_plain, judge};

fn context() -> Context {
    Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() }
}

/// Commands that leave no folder, variable or function behind.
fn command() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "echo x > a",
        "rm -rf b",
        "cp a b",
        "cat a | tee b c",
        "sed -i s/a/b/ f",
        "(cd d && touch e)",
        "git checkout -- f",
        "find . -name '*.o' -delete",
        "bash -c 'echo x > y'",
        "python3 -c \"open('p','w')\"",
        "echo \"$(rm q)\"",
        "ls",
        "for i in 1 2; do touch $i; done",
        "tar xf a.tar -C d",
        "xargs rm < list",
        "> $F",
        "dd of=g",
        "mv m n",
        "{ echo; } >> h",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        judge(&effects(&text, &context()), &["a/".to_owned()]);
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(text in "[a-c $(){}\\[\\]<>|&;'\"\\\\`*?~#=/.\\n-]{0,60}") {
        judge(&effects(&text, &context()), &["a/".to_owned()]);
    }

    #[test]
    fn what_is_plain_is_allowed_when_it_is_read(
        words in prop::collection::vec(prop::sample::select(vec![
            "ls", "cp", "tee", "mkdir", "touch", "git", "diff", "cd", "cd", "..", "-", ".", "/", "/repo", "/repo/a", "a/b", "x",
            "echo", "'q r'", "\"s\"", "2>&1", ">", ">>", "2>", "|", "||", "&&", ";", "\n", "python3", "-m", "m", "-c", "npm",
            "sort", "-o", "curl", "-O", "http://h/x", "A=b", "env", "sudo", "export", "read", "docker", "run", "-v", "/:/w", "--",
            "ln", "-s", "wget", "dd", "of=x", "install", "time", "exec", "command", "mktemp", "-p", "pushd", "ssh", "localhost", "make", "./x", "a/x",
        ]), 0..10),
        space in prop::sample::select(vec![" ", " ", "  ", ""]),
    ) {
        let text = words.join(space);
        if is_plain(&text, &context(), &["protected"]) {
            let verdict = judge(&effects(&text, &context()), &["protected/".to_owned(), "d/protected".to_owned()]);
            prop_assert_eq!(verdict.decision, GuardDecision::Allow, "{}: {}", text, verdict.reason);
        }
    }

    #[test]
    fn spans_are_in_the_text(text in "[a-c $(){}<>|&;'\"\\\\`é\n-]{0,40}") {
        let reading = effects(&text, &context());
        for span in reading.effects.iter().map(|e| &e.span).chain(reading.runs().map(|run| &run.span)) {
            prop_assert!(text.get(span.clone()).is_some(), "{:?}", span);
        }
    }

    #[test]
    fn a_sequence_does_what_its_parts_do(a in command(), b in command()) {
        let both = effects(&format!("{a}; {b}"), &context());
        for part in [a, b] {
            for effect in effects(&part, &context()).effects {
                let found = both.effects.iter().any(|e| {
                    (e.op, &e.path, &e.via, e.certainty) == (effect.op, &effect.path, &effect.via, effect.certainty)
                });
                prop_assert!(found, "{effect:?}");
            }
        }
    }
}

/// Twenty times what the slowest takes on an idle machine, and more. What doubles with every repetition takes hours.
const MOST: Duration = if cfg!(debug_assertions) { Duration::from_secs(10) } else { Duration::from_secs(2) };

#[test]
fn whatever_repeats_itself_ends_soon() {
    for (start, part, count) in [
        ("x=aaaaaaaaaaaaaaaa", "; x=$x$x", 60),
        ("echo ", "sudo ", 20_000),
        ("", "sudo ", 20_000),
        ("", "eval ", 20_000),
        ("f() { f; f; }; ", "f;", 50),
        ("a=0", "; a=$(echo $a $a)", 60),
        ("touch ", "a{b,c}", 2_000),
        ("cat ", "<(cat) ", 5_000),
        ("echo ", "$(a=$(b)) ", 5_000),
        ("x=1", "; (y=$x)", 2_500),
        ("echo x", " > a$x", 10_000),
        ("cat", " <<E", 20_000),
        ("cat <<E\n", "$(", 20_000),
        ("echo ", "${x:-", 20_000),
        ("echo ", "((", 40_000),
        ("", "((a) ", 20_000),
        ("", "[[ ( ", 20_000),
        ("echo ", "\"$(", 30_000),
        ("echo ", "`\\`", 30_000),
        ("", "x=(", 30_000),
        ("echo $(( ", "${a ", 20_000),
    ] {
        let text = format!("{start}{}", part.repeat(count));
        let begun = Instant::now();
        judge(&effects(&text, &context()), &["a/".to_owned()]);
        assert!(begun.elapsed() < MOST, "{part} {count}: {:?}", begun.elapsed());
    }
}

#[test]
fn deep_nesting_is_refused_quickly() {
    for (open, close) in [
        ("$(", ")"),
        ("\"$(", ")\""),
        ("`", "`"),
        ("(", ")"),
        ("{ ", ";}"),
        ("${a:-", "}"),
        ("((", "))"),
        ("if ", ""),
        ("<(", ")"),
    ] {
        for count in [20, 55, 490, 100_000 / (open.len() + close.len())] {
            let text = format!("echo {}x{}", open.repeat(count), close.repeat(count));
            let mut verdict = None;
            // The quickest of three: what else the machine does is not ours.
            let taken = (0..3).map(|_| {
                let start = Instant::now();
                verdict = Some(judge(&effects(&text, &context()), &["a/".to_owned()]).decision);
                start.elapsed()
            });
            let taken = taken.min().unwrap();
            assert!(taken < MOST, "{open} {count}: {taken:?}");
            // Backticks do not nest, and behind `echo` an `if` is an `if`.
            if count > 490 && !matches!(open, "`" | "if ") {
                assert_ne!(verdict, Some(GuardDecision::Allow), "{open}");
            }
        }
    }
}
