//! How each link of a chain is closed: a decision, the work, its test, a text, a picture, the skills for it.

use std::fs;

use serde_json::json;

use crate::plans::{decided, is, loaded};

#[test]
fn a_decision_task_is_closed_by_what_stands_in_its_section() {
    let sandbox = loaded();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.0"]).1, @r"
    error: task `1.0` stays open: there is no decision under `## Words Decisions` in `.steadfast/decisions/greeting.md`; `steadfast decide TEXT --why TEXT` adds one

    hint: `steadfast task done 1.0` runs the check again
    ");
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.0"]), @r"
    1.0 Decisions of Words: its goal and the choices made: done (observed: 1 decision in its section)
    1 of 13 tasks done, 12 open, 0 blocked. Next is 1.1 Greet people.
    ");
    // Another phase has a section of its own.
    assert_eq!(sandbox.fails(&["task", "done", "2.0"]).0, 1);
    let text = sandbox.decisions("greeting").replace("## Page Decisions\n", "## Page Decisions\n- One page: enough\n");
    fs::write(sandbox.decisions_file("greeting"), text).unwrap();
    sandbox.ok(&["task", "done", "2.0"]);
    assert_eq!(sandbox.stands("2.0"), is("done", "observed"));
}

#[test]
fn a_chain_is_done_in_its_order_and_its_work_before_its_test() {
    let sandbox = decided();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.1a"]).1, @r"
    error: task `1.1a` depends on open tasks: `1.1`

    hint: `steadfast task next` shows a task that can start now
    ");
    let said = sandbox.fails(&["task", "done", "1.1"]).1;
    assert!(said.starts_with("error: task `1.1` stays open: none of its files changed since "), "{said}");
    sandbox.write("greet.txt", "good day");
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.1"]), @r"
    1.1 Greet people: done (observed: changed: greet.txt)
    4 of 13 tasks done, 9 open, 0 blocked. Next is 1.1a Test: Greet people.
    ");
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.1a"]).1, @r"
    error: task `1.1a` stays open: `grep -q hello greet.txt` exited with 1

    hint: `steadfast task done 1.1a` runs the check again
    ");
    sandbox.write("greet.txt", "hello");
    sandbox.ok(&["task", "done", "1.1a"]);
    assert_eq!(sandbox.stands("1.1a"), is("done", "executed"));
}

#[test]
fn docs_are_there_and_written() {
    let sandbox = decided();
    sandbox.ok(&["task", "start", "1.2"]);
    sandbox.write("greet.md", "# How people are greeted");
    sandbox.ok(&["task", "done", "1.2"]);
    fs::remove_file(sandbox.root().join("greet.md")).unwrap();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.2a"]).1, @r"
    error: task `1.2a` stays open: missing: greet.md

    hint: `steadfast task done 1.2a` runs the check again
    ");
    sandbox.write("greet.md", "# How people are greeted");
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.2a"]), @r"
    1.2a Verify that it is written: Describe it: done (observed: changed: greet.md)
    5 of 13 tasks done, 8 open, 0 blocked. Next is 1.1 Greet people.
    ");
    assert_eq!(sandbox.task("1.2a")["check"], "written");
}

/// So many grey pixels.
pub(crate) fn png(width: u8, height: u8) -> Vec<u8> {
    let part = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&length[..], name, content, &[0; 4]].concat()
    };
    let header = [0, 0, 0, width, 0, 0, 0, height, 8, 0, 0, 0, 0];
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        part(b"IHDR", &header),
        part(b"IDAT", &[0x78, 1, 3, 0, 0, 0, 0, 1]),
        part(b"IEND", &[]),
    ]
    .concat()
}

#[test]
fn a_page_is_closed_by_a_picture_that_is_newer_than_it() {
    let sandbox = decided();
    sandbox.ok(&["task", "done", "2.1a"]);
    sandbox.write("page.html", "<h1>hello</h1>");
    sandbox.ok(&["task", "done", "2.1"]);
    sandbox.write("old.png", png(4, 3));
    sandbox.write("words.png", "no picture");
    sandbox.write("dot.png", png(1, 1));
    sandbox.write("new.png", png(4, 3));
    let second = std::time::Duration::from_secs(1);
    let shown = fs::metadata(sandbox.root().join("page.html")).unwrap().modified().unwrap();
    let taken = |file: &str, at| {
        fs::File::options().write(true).open(sandbox.root().join(file)).unwrap().set_modified(at).unwrap();
    };
    taken("old.png", shown - second);
    for file in ["words.png", "dot.png", "new.png"] {
        taken(file, shown + second);
    }
    let mut all = sandbox.fails(&["task", "done", "2.1b"]).1;
    for file in ["old.png", "words.png", "dot.png", "none.png"] {
        let said = sandbox.fails(&["task", "done", "2.1b", "--artifact", file]).1;
        all += said.lines().next().unwrap().split("; the ").next().unwrap();
        all += "\n";
    }
    insta::assert_snapshot!(all, @r"
    error: task `2.1b` needs a picture that shows the result

    hint: `steadfast task done 2.1b --artifact FILE`, a screenshot taken after the change
    error: task `2.1b` stays open: `/repo/old.png` is older than `page.html`: take the picture after the change
    error: task `2.1b` stays open: `/repo/words.png` is not a PNG, JPEG, GIF or WebP image
    error: task `2.1b` stays open: `/repo/dot.png` has only 1 × 1 pixels, too few to show anything
    error: task `2.1b` stays open: `/repo/none.png` does not exist: give a path in the checkout, or a full path
    ");
    let said = sandbox.ok(&["task", "done", "2.1b", "--artifact", "new.png"]);
    assert!(
        said.starts_with("2.1b Look at it: Draw the page (page.html): done (artifact: new.png: PNG, 4 × 3, "),
        "{said}"
    );
    assert_eq!(sandbox.stands("2.1b"), is("done", "artifact"));
    sandbox.write("page.html", "<h1>good day</h1>");
    assert_eq!(sandbox.task("2.1b")["evidence"]["stale"], true);
}

#[test]
fn skills_are_claimed_where_no_session_tells() {
    let sandbox = decided();
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "2.1a"]), @r"
    2.1a Run /frontend-design and /vercel-design-guidelines for: Draw the page: done (claimed: the session is unknown, so the skills it used are unknown)
    4 of 13 tasks done, 9 open, 0 blocked. Next is 1.1 Greet people.
    ");
    assert_eq!(sandbox.stands("2.1a"), is("done", "claimed"));
}

#[test]
fn skills_are_seen_where_a_session_uses_them() {
    let sandbox = decided();
    let skill = |name: &str| {
        let call = json!({"tool_name": "Skill", "tool_input": {"skill": name}, "tool_use_id": name});
        sandbox.hook("PreToolUse", "me", call);
    };
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    skill("vercel-design-guidelines");
    std::thread::sleep(std::time::Duration::from_millis(5));
    sandbox.agent(&["task", "start", "2.1a"]);
    skill("frontend-design");
    let (code, said) = sandbox.agent(&["task", "done", "2.1a"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: task `2.1a` stays open: not used since it was started: /vercel-design-guidelines

    hint: `steadfast task done 2.1a` runs the check again
    ");
    skill("vercel-design-guidelines");
    insta::assert_snapshot!(sandbox.agent(&["task", "done", "2.1a"]).1, @r"
    2.1a Run /frontend-design and /vercel-design-guidelines for: Draw the page: done (observed: used: frontend-design, vercel-design-guidelines)
    4 of 13 tasks done, 9 open, 0 blocked. Next is 1.1 Greet people.
    ");
    assert_eq!(sandbox.stands("2.1a"), is("done", "observed"));
}
