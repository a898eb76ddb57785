use super::*;

fn of_kind(kind: Kind, content: &str) -> Vec<String> {
    let texts = texts(content).unwrap().into_iter();
    texts.filter(|(found, _)| *found == kind).map(|(_, text)| text).collect()
}

fn messages(content: &str) -> Vec<String> {
    of_kind(Kind::Message, content)
}

#[test]
fn format_strings_are_messages_also_within_macros_and_error_attributes() {
    let content = r#"
        #[derive(Debug, thiserror::Error)]
        enum Error {
            #[error("cannot read `{path}`: {source}")]
            Read { path: String },
        }
        fn say() -> String {
            tell!("wrote {}", 1);
            hints!(x, { Some(_) => ("`steadfast init` writes it", a), });
            format!("{count} tasks are open")
        }
    "#;
    let expected =
        ["cannot read `{path}`: {source}", "wrote {}", "`steadfast init` writes it", "{count} tasks are open"];
    assert_eq!(messages(content), expected);
}

#[test]
fn lines_are_joined_as_the_compiler_joins_them() {
    assert_eq!(messages("const A: &str = \"one \\\n    two\\nthree\";"), ["one two\nthree"]);
    assert_eq!(messages("const A: &str = r#\"a \"raw\" text\"#;"), ["a \"raw\" text"]);
}

#[test]
fn tests_have_no_messages_and_no_comments() {
    let content = r#"
        /// Kept.
        fn a() {}
        #[cfg(test)]
        mod tests {
            // in a test
            const A: &str = "in a test";
        }
        #[cfg(all(test, unix))]
        #[expect(dead_code, reason = "in a test")]
        const B: &str = "in a test";
        struct S {
            #[cfg(test)]
            seen: Vec<&'static str>,
            /// Also kept.
            b: u8,
        }
        #[cfg(not(test))]
        const C: &str = "not in a test";
    "#;
    assert_eq!(messages(content), ["not in a test"]);
    assert_eq!(of_kind(Kind::Comment, content), ["Kept.", "Also kept."]);
}

#[test]
fn reasons_assertions_panics_and_includes_are_not_messages() {
    let content = r#"
        #![expect(clippy::print_stdout, reason = "chores print a lot")]
        #[expect(unsafe_code, reason = "the call is checked")]
        fn a() {
            assert!(x, "it is so");
            unreachable!("it is never so");
            b().expect("it is there");
            include_str!("a file.txt");
        }
    "#;
    assert_eq!(messages(content), [""; 0]);
}

#[test]
fn sql_lists_of_words_and_single_words_are_not_messages() {
    let content = r#"
        const A: &str = "SELECT id FROM task";
        const B: &str = "worktree = ?1 AND ended IS NULL";
        const C: &str = "build doc env list test version vet";
        const D: &str = "cannot, can't, nobody, want, wants";
        const E: [&str; 4] = ["unknown", "--json", "{first} {second}", "A B"];
    "#;
    assert_eq!(messages(content), [""; 0]);
}

#[test]
fn short_texts_and_texts_with_function_words_are_messages() {
    let expected =
        ["unknown word", "nested deeper than 127 levels", "the budget of this run is used", "{task}, {files}, {check}"];
    let content: String = expected.map(|text| format!("tell!(\"{text}\");\n")).concat();
    assert_eq!(messages(&content), expected[..3]);
}

#[test]
fn doc_comments_and_attributes_of_clap_are_help() {
    let content = r#"
        /// Show the plan.
        ///
        /// With its tasks,
        /// and their checks.
        #[derive(Debug, clap::Args)]
        #[command(after_help = "See also: `status`.")]
        pub(crate) struct Show {
            /// Print JSON.
            #[arg(long, help_heading = "Output options")]
            json: bool,
        }
        /// Not help.
        struct Other {
            /// Nor this.
            a: u8,
        }
        commands! {
            enum Command {
                /// Show it.
                Show(Show),
            }
        }
    "#;
    let expected = [
        "Show the plan.\n\nWith its tasks, and their checks.",
        "See also: `status`.",
        "Print JSON.",
        "Output options",
        "Show it.",
    ];
    assert_eq!(of_kind(Kind::Help, content), expected);
    assert_eq!(of_kind(Kind::Comment, content).len(), 5);
}

#[test]
fn comments_are_blocks_of_consecutive_lines_of_one_kind() {
    let content = "//! About\n//! this.\n\n// One\n// block.\n/// Another.\nfn a() { // beside\n    // below\n    \
                   let a = \"// a text\";\n}\n// at the end\n";
    let expected = ["About\nthis.", "One\nblock.", "Another.", "beside", "below", "at the end"];
    assert_eq!(of_kind(Kind::Comment, content), expected);
}
