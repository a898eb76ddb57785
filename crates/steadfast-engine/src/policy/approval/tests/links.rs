use steadfast_model::PathLink;

use super::*;

fn linked(path: &str, target: &str) -> Facts {
    Facts { links: vec![PathLink { path: path.into(), target: target.into() }], ..behind(gate()) }
}

#[test]
fn a_command_line_reaches_what_its_paths_lead_to() {
    let refused =
        |line: &str, facts: &Facts| refusal(&decide(&gated(), &pre("1", Action::shell(line)), facts)).is_some();
    let facts = linked("/repo/way", "/repo");
    assert!(refused("echo x > way/.tdd-progress.md", &facts));
    assert!(!refused("echo x > way/README.md", &facts));
    assert!(!refused("echo x > wayward/.tdd-progress.md.txt", &facts));
    // The wiring, too.
    let facts = linked("/repo/x", "/repo/.claude");
    assert!(refused("echo '{}' > x/settings.json", &facts));
}

#[test]
fn a_protected_path_that_is_a_link_is_what_it_leads_to() {
    let facts = linked("/repo/.tdd-progress.md", "/repo/progress/today.md");
    let decision = decide(&gated(), &pre("1", Action::shell("tee progress/today.md")), &facts);
    assert!(refusal(&decision).is_some());
}
