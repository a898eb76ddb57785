use std::time::Duration;

use crate::sandbox::{LONG, Sandbox, known, unknown};

#[test]
fn what_git_knows_is_listed_from_the_root_of_the_checkout() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a b.rs", "1\n");
    sandbox.write("é.md", "1\n");
    sandbox.commit();
    sandbox.write("new.rs", "1\n");
    assert_eq!(known(sandbox.repository().tracked(LONG)), ["a.txt", "src/a b.rs", "src/b.txt", "é.md"]);
}

#[test]
fn without_time_nothing_is_known() {
    assert!(unknown(Sandbox::new().repository().tracked(Duration::ZERO)).contains("no answer within"));
}
