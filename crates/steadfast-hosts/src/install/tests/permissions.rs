//! Permission rules in Claude Code's settings: accepted, declined, and the user's own.

use super::*;

const LOCAL: &str = "repo/.claude/settings.local.json";

fn allowed(world: &World, path: &str) -> Vec<String> {
    let settings: serde_json::Value = serde_json::from_str(&world.read(path).unwrap()).unwrap();
    let rules = settings["permissions"]["allow"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}

fn choice(world: &World, scope: InstallScope) -> Option<PermissionChoice> {
    permission_choice(scope, &world.place()).unwrap()
}

#[test]
fn each_rule_has_a_line_of_its_own_and_is_written_once() {
    let world = World::new();
    world.install(InstallScope::Local);
    let text = world.read(LOCAL).unwrap();
    assert!(text.contains("\n      \"Bash(steadfast task next:*)\",\n      \"Bash(steadfast why:*)\",\n"), "{text}");
    assert_eq!(allowed(&world, LOCAL), world.allow);
    world.install(InstallScope::Local);
    assert_eq!(world.read(LOCAL).unwrap(), text);
}

#[test]
fn every_scope_has_the_rules_in_its_own_settings_and_codex_has_none() {
    for (scope, path) in [
        (InstallScope::Local, LOCAL),
        (InstallScope::Shared, "repo/.claude/settings.json"),
        (InstallScope::User, ".claude/settings.json"),
    ] {
        let world = World::new();
        world.install(scope);
        assert_eq!(allowed(&world, path), world.allow);
        let files = world.files();
        let with_rules = files.iter().filter(|(_, text)| text.contains("steadfast why:"));
        assert_eq!(with_rules.count(), 1, "{scope:?}");
    }
}

#[test]
fn a_rule_that_the_user_wrote_before_stays() {
    let world = World::new();
    let before = "{\"permissions\": {\"allow\": [\"Bash(steadfast why:*)\"], \"deny\": []}}\n";
    world.write(LOCAL, before);
    world.install(InstallScope::Local);
    assert_eq!(
        allowed(&world, LOCAL),
        ["Bash(steadfast why:*)", "Bash(steadfast task next:*)", "mcp__steadfast__task_next"]
    );
    // Something else changes, so that the earlier bytes cannot simply be put back.
    world.write(LOCAL, &world.read(LOCAL).unwrap().replace("\"deny\": []", "\"deny\": [\"Read\"]"));
    world.uninstall();
    assert_eq!(world.read(LOCAL).unwrap(), before.replace("\"deny\": []", "\"deny\": [\"Read\"]"));
}

#[test]
fn a_rule_that_claude_code_wrote_after_us_stays_also_after_another_installation() {
    let world = World::new();
    world.install(InstallScope::Local);
    let asked = world.read(LOCAL).unwrap().replace("task_next\"", "task_next\",\n      \"Bash(steadfast task add:*)\"");
    world.write(LOCAL, &asked);
    world.install(InstallScope::Local);
    world.uninstall();
    assert_eq!(allowed(&world, LOCAL), ["Bash(steadfast task add:*)"]);
}

#[test]
fn what_is_declined_is_taken_out_and_remembered() {
    let mut world = World::new();
    world.write(LOCAL, "{\n  \"permissions\": { }\n}\n");
    assert_eq!(choice(&world, InstallScope::Local), None);
    world.install(InstallScope::Local);
    assert_eq!(choice(&world, InstallScope::Local), Some(PermissionChoice::Allowed));
    world.allow.clear();
    world.install(InstallScope::Local);
    assert!(world.read(LOCAL).unwrap().contains("\"permissions\": { }"), "{:?}", world.read(LOCAL));
    for scope in InstallScope::ALL {
        assert_eq!(choice(&world, scope), Some(PermissionChoice::Declined));
    }
    world.uninstall();
    assert_eq!(world.read(LOCAL).unwrap(), "{\n  \"permissions\": { }\n}\n");
    assert_eq!(choice(&world, InstallScope::Local), None);
}

#[test]
fn a_rule_that_this_version_does_not_offer_any_more_goes_with_an_update() {
    let mut world = World::new();
    world.install(InstallScope::Local);
    world.allow.remove(1);
    world.install(InstallScope::Local);
    assert_eq!(allowed(&world, LOCAL), world.allow);
}

#[test]
fn permissions_of_another_shape_are_an_error_and_nothing_is_written() {
    for text in ["{\"permissions\": []}", "{\"permissions\": {\"allow\": \"Bash\"}}"] {
        let world = World::new();
        world.write(LOCAL, text);
        let error = world.plan(InstallScope::Local).unwrap_err().to_string();
        assert!(error.contains("`permissions"), "{error}");
        assert_eq!(world.read(LOCAL).unwrap(), text);
    }
}
