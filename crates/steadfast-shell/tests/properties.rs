//! What holds for any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use steadfast_shell::{Context, Decision, effects, judge};

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
            let start = Instant::now();
            let verdict = judge(&effects(&text, &context()), &["a/".to_owned()]);
            let most = if cfg!(debug_assertions) { Duration::from_secs(2) } else { Duration::from_millis(50) };
            assert!(start.elapsed() < most, "{open} {count}: {:?}", start.elapsed());
            if count > 490 && open != "if " {
                assert_ne!(verdict.decision, Decision::Allow, "{open}");
            }
        }
    }
}
