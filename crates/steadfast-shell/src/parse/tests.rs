use super::*;
use crate::tree::{Command, Item, Part, Redirect, Word};

/// The words of simple commands, wherever they stand, as the spans say.
fn words<'a>(text: &'a str, list: &List) -> Vec<&'a str> {
    let mut found = Vec::new();
    for command in list.iter().flatten() {
        match command {
            Command::Simple { items, redirects, .. } => {
                for item in items {
                    if let Item::Word(word) = item {
                        of_word(text, word, &mut found);
                    }
                }
                for redirect in redirects {
                    match redirect {
                        Redirect::Heredoc(heredoc) => of_parts(text, heredoc.body.get().unwrap(), &mut found),
                        Redirect::Read(word)
                        | Redirect::Write(word)
                        | Redirect::Duplicate(word)
                        | Redirect::HereString(word) => of_word(text, word, &mut found),
                    }
                }
            }
            Command::Group { body, .. } | Command::Subshell { body, .. } => found.extend(words(text, body)),
            _ => {}
        }
    }
    found
}

fn of_word<'a>(text: &'a str, word: &Word, found: &mut Vec<&'a str>) {
    found.push(&text[word.span.clone()]);
    of_parts(text, &word.parts, found);
}

fn of_parts<'a>(text: &'a str, parts: &[Part], found: &mut Vec<&'a str>) {
    for part in parts {
        match part {
            Part::Command(list) | Part::Process(list) => found.extend(words(text, list)),
            Part::Double(parts) | Part::Arithmetic(parts) => of_parts(text, parts, found),
            _ => {}
        }
    }
}

fn spans(text: &str) -> Vec<&str> {
    let script = parse(text);
    assert_eq!(script.end, End::Whole, "{text}");
    words(text, &script.list)
}

#[test]
fn a_word_knows_its_bytes() {
    assert_eq!(spans("echo é > 'o u't"), ["echo", "é", "'o u't"]);
}

#[test]
fn so_does_a_word_in_a_substitution() {
    assert_eq!(spans("a \"x $(b é <(c)) y\""), ["a", "\"x $(b é <(c)) y\"", "b", "é", "<(c)", "c"]);
}

#[test]
fn so_does_a_word_in_backticks_in_backticks() {
    assert_eq!(spans(r"a `b \`c d\` e`"), ["a", r"`b \`c d\` e`", "b", r"`c d\`", "c", "d", "e"]);
}

#[test]
fn so_does_a_word_in_a_heredoc_without_its_tabs() {
    assert_eq!(spans("cat <<-E\n\té\n\t$(rm x)\n\tE\n"), ["cat", "rm", "x"]);
}

#[test]
fn a_quoted_heredoc_is_data() {
    assert_eq!(spans("cat <<'E'\n$(rm x)\nE\nls"), ["cat", "ls"]);
}

#[test]
fn heredocs_of_one_line_follow_one_another() {
    assert_eq!(spans("cat <<A - <<B; ls\n$(a)\nA\n$(b)\nB\nrm"), ["cat", "-", "a", "b", "ls", "rm"]);
}

#[test]
fn a_heredoc_in_a_substitution_may_end_behind_it() {
    assert_eq!(spans("echo $(cat <<E)\n$(rm x)\nE\nls"), ["echo", "$(cat <<E)", "cat", "rm", "x", "ls"]);
}

#[test]
fn what_stands_before_a_bad_line_is_read() {
    let text = "rm a\nrm b; )\nrm c";
    let script = parse(text);
    assert_eq!((script.end, words(text, &script.list)), (End::Cut, vec!["rm", "a"]));
}

#[test]
fn keywords_are_keywords_where_a_command_begins() {
    assert_eq!(spans("echo if then { } done; \\if x"), ["echo", "if", "then", "{", "}", "done", "\\if", "x"]);
}

#[test]
fn extended_patterns_are_known_a_line_after_they_are_turned_on() {
    assert_eq!(parse("ls !(a)").end, End::Cut);
    assert_eq!(parse("shopt -s extglob; ls !(a)").end, End::Cut);
    assert_eq!(parse("shopt -s extglob\nls !(a)").end, End::Whole);
}

#[test]
fn what_is_too_deep_is_not_read() {
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("\"$(", ")\""),
        ("{ ", "; }"),
        ("((", "))"),
        ("$((", "))"),
        ("if ", ""),
        ("${a:-", "}"),
        ("[[ ( ", " ) ]]"),
        ("a[", "]=1"),
        ("a=(", ")"),
        ("f() ", "{ x; }"),
        ("coproc ", ""),
        ("! ", ""),
        ("case a in a) ", " ;; esac"),
    ] {
        let text = format!("{}x{}", open.repeat(20_000), close.repeat(20_000));
        let start = std::time::Instant::now();
        parse(&text);
        parse(&format!("echo {text}"));
        // A hundred times what it takes on an idle machine.
        assert!(start.elapsed().as_secs() < 5, "{open}: {:?}", start.elapsed());
    }
}
