use crate::sandbox::{LONG, Sandbox, known, unknown};

/// The lines of the table behind its first, which names the commit.
fn table(sandbox: &Sandbox) -> Vec<String> {
    let table = known(sandbox.repository().neighbours(LONG));
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let mut lines = table.as_str().lines().map(str::to_owned);
    assert_eq!(lines.next().unwrap(), format!("# {}", head.trim()));
    lines.collect()
}

/// Commits a change of each of the files.
fn commit(sandbox: &Sandbox, number: usize, files: &[&str]) {
    files.iter().for_each(|file| _ = sandbox.write(file, format!("{number}\n")));
    sandbox.commit();
}

#[test]
fn what_is_mostly_changed_together_goes_together() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        commit(&sandbox, number, &["src/a.rs", "tests/a.rs"]);
    }
    // The index changes with everything: with `src/a.rs` never, with `src/c.rs` always.
    for number in 3..9 {
        commit(&sandbox, number, &["index.rs", "src/c.rs"]);
        commit(&sandbox, number + 100, &["index.rs"]);
    }
    // Twice is chance.
    for number in 9..11 {
        commit(&sandbox, number, &["src/d.rs", "src/e.rs"]);
    }
    assert_eq!(
        table(&sandbox),
        ["index.rs\tsrc/c.rs", "src/a.rs\ttests/a.rs", "src/c.rs\tindex.rs", "tests/a.rs\tsrc/a.rs"]
    );
}

#[test]
fn less_than_half_of_the_time_is_not_together() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        commit(&sandbox, number, &["hub.rs", "leaf.rs"]);
    }
    for number in 3..7 {
        commit(&sandbox, number, &["hub.rs"]);
    }
    assert_eq!(table(&sandbox), ["leaf.rs\thub.rs"]);
}

#[test]
fn a_commit_of_everything_says_nothing() {
    let sandbox = Sandbox::new();
    let files: Vec<String> = (0..41).map(|n| format!("f{n}.rs")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for number in 0..4 {
        commit(&sandbox, number, &files);
    }
    assert_eq!(table(&sandbox), Vec::<String>::new());
}

#[test]
fn no_more_than_eight_the_nearest_first() {
    let sandbox = Sandbox::new();
    let all = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    for number in 0..3 {
        commit(&sandbox, number, &all);
    }
    commit(&sandbox, 3, &["a", "j"]);
    let line = table(&sandbox).into_iter().find(|line| line.starts_with("a\t")).unwrap();
    assert_eq!(line, "a\tj\tb\tc\td\te\tf\tg\th");
}

#[test]
fn what_is_gone_has_no_neighbours_and_neither_has_what_fits_into_no_line() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        commit(&sandbox, number, &["a.rs", "gone.rs", "old.rs", "two\nlines.rs", "a\ttab.rs", "b c.rs"]);
    }
    sandbox.git(&["mv", "old.rs", "new.rs"]);
    sandbox.remove("gone.rs").commit();
    assert_eq!(table(&sandbox), ["a.rs\tb c.rs", "b c.rs\ta.rs"]);
}

#[test]
fn without_history_it_is_not_known() {
    assert_eq!(unknown(Sandbox::without_git().repository().neighbours(LONG)), "not a git repository");
    assert!(unknown(Sandbox::empty().repository().neighbours(LONG)).starts_with("`git rev-parse` failed"));
}
