//! In and out again: what was there comes back.

use super::*;

const SETTINGS: &str = "{\n    \"permissions\": {\"allow\": [ \"Bash(ls)\" ]},\n    \"hooks\": { \"Stop\": [ ] }\n}";
const CLAUDE_JSON: &str = "{\n  \"numStartups\": 3,\n  \"projects\": {},\n  \"mcpServers\": { }\n}";
const CONFIG_TOML: &str = "# mine\nmodel = \"gpt-5.5\"   # best\r\n\n[mcp_servers.other]\ncommand = \"x\"";

fn world_with_everything() -> World {
    let world = World::new();
    for path in ["repo/.claude/settings.local.json", "repo/.claude/settings.json", ".claude/settings.json"] {
        world.write(path, SETTINGS);
    }
    for path in [".codex/hooks.json", "repo/.codex/hooks.json"] {
        world.write(path, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}\n");
    }
    world.write(".claude.json", CLAUDE_JSON);
    world.write("repo/.mcp.json", "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}");
    world.write(".codex/config.toml", CONFIG_TOML);
    world.write("repo/.codex/config.toml", "");
    world
}

#[test]
fn every_scope_gives_back_the_bytes_it_found() {
    for scope in InstallScope::ALL {
        let world = world_with_everything();
        let before = world.files();
        world.install(scope);
        assert_ne!(world.files(), before, "{scope:?}");
        world.uninstall();
        assert_eq!(world.files(), before, "{scope:?}");
    }
}

#[test]
fn all_scopes_at_once_give_back_the_bytes_they_found() {
    let world = world_with_everything();
    let before = world.files();
    for scope in InstallScope::ALL {
        world.install(scope);
    }
    world.uninstall();
    assert_eq!(world.files(), before);
}

#[test]
fn files_and_folders_that_were_not_there_go() {
    for scope in InstallScope::ALL {
        let world = World::new();
        world.install(scope);
        assert!(!world.files().is_empty());
        world.uninstall();
        assert_eq!(world.files(), [], "{scope:?}");
        for folder in [".claude", ".codex", "repo/.claude", "repo/.codex"] {
            assert!(!world.home.join(folder).exists(), "{scope:?} left {folder}");
        }
    }
}

#[test]
fn a_file_made_for_one_scope_and_used_by_another_goes_with_both() {
    let orders = [[InstallScope::Local, InstallScope::User], [InstallScope::User, InstallScope::Local]];
    for order in orders {
        let world = World::new();
        order.into_iter().for_each(|scope| world.install(scope));
        world.uninstall();
        assert_eq!(world.files(), [], "{order:?}");
    }
}

#[test]
fn a_folder_with_something_else_in_it_stays() {
    let world = World::new();
    world.install(InstallScope::Local);
    world.write("repo/.claude/notes.md", "mine");
    world.uninstall();
    assert_eq!(world.files(), [(world.home.join("repo/.claude/notes.md"), "mine".to_owned())]);
}

#[test]
fn installing_twice_changes_nothing_the_second_time() {
    for scope in InstallScope::ALL {
        let world = world_with_everything();
        world.install(scope);
        assert!(world.plan(scope).unwrap().is_empty(), "{scope:?}");
    }
}

#[test]
fn installing_twice_into_nothing_changes_nothing_the_second_time() {
    for scope in InstallScope::ALL {
        let world = World::new();
        world.install(scope);
        assert!(world.plan(scope).unwrap().is_empty(), "{scope:?}");
    }
}

#[test]
fn uninstalling_twice_changes_nothing_the_second_time() {
    let world = world_with_everything();
    world.install(InstallScope::Local);
    world.uninstall();
    assert!(world.plan_out().unwrap().is_empty());
}

#[test]
fn a_moved_binary_replaces_the_old_path_everywhere() {
    let world = World::new();
    world.install(InstallScope::Local);
    let before = world.files();
    apply(&world.plan_with(InstallScope::Local, "/new/steadfast", None).unwrap()).unwrap();
    let moved: Vec<_> =
        before.into_iter().map(|(path, text)| (path, text.replace("/opt/bin/steadfast", "/new/steadfast"))).collect();
    assert_eq!(world.files(), moved);
    world.uninstall();
    assert_eq!(world.files(), []);
}

#[test]
fn what_the_user_changed_since_stays() {
    let edit = |text: &str| text.replace("Bash(ls)", "Bash(cat)");
    for scope in [InstallScope::Local, InstallScope::Shared, InstallScope::User] {
        let world = world_with_everything();
        let mut expected = world.files();
        for (_, text) in &mut expected {
            *text = edit(text);
        }
        world.install(scope);
        for (path, text) in world.files() {
            fs::write(path, edit(&text)).unwrap();
        }
        world.uninstall();
        assert_eq!(world.files(), expected, "{scope:?}");
    }
}

#[test]
fn what_the_user_added_since_stays_also_after_another_install() {
    let world = World::new();
    let path = "repo/.claude/settings.local.json";
    world.write(path, "{\n  \"model\": \"opus\"\n}\n");
    world.install(InstallScope::Local);
    let edited = world.read(path).unwrap().replace("\"opus\",", "\"opus\",\n  \"theme\": \"dark\",");
    world.write(path, &edited);
    apply(&world.plan_with(InstallScope::Local, "/new/steadfast", None).unwrap()).unwrap();
    world.uninstall();
    assert_eq!(world.read(path).unwrap(), "{\n  \"model\": \"opus\",\n  \"theme\": \"dark\"\n}\n");
}

#[test]
fn a_file_that_claude_code_wrote_anew_loses_only_our_entries() {
    let world = World::new();
    let path = "repo/.claude/settings.local.json";
    world.install(InstallScope::Local);
    let mut settings: serde_json::Value = serde_json::from_str(&world.read(path).unwrap()).unwrap();
    settings["permissions"] = serde_json::json!({"allow": ["Bash(ls)"]});
    world.write(path, &serde_json::to_string_pretty(&settings).unwrap());
    world.uninstall();
    let left: serde_json::Value = serde_json::from_str(&world.read(path).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({"permissions": {"allow": ["Bash(ls)"]}}));
}

#[test]
fn without_a_record_our_entries_go_all_the_same() {
    let world = World { allow: Vec::new(), ..World::new() };
    world.write("repo/.claude/settings.local.json", "{\n  \"model\": \"opus\"\n}\n");
    world.install(InstallScope::Local);
    fs::remove_dir_all(world.home.join("repo/.git/steadfast")).unwrap();
    world.uninstall();
    assert_eq!(world.read("repo/.claude/settings.local.json").unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn the_cap_comes_back_as_it_was() {
    let world = World::new();
    let path = "repo/.claude/settings.local.json";
    let before = "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"9\", \"A\": \"1\"}}";
    world.write(path, before);
    apply(&world.plan_with(InstallScope::Local, "/opt/bin/steadfast", Some(51)).unwrap()).unwrap();
    let raised = world.read(path).unwrap();
    assert!(raised.contains("\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"51\""), "{raised}");
    world.write(path, &raised.replace("\"A\": \"1\"", "\"A\": \"2\""));
    world.uninstall();
    assert_eq!(world.read(path).unwrap(), before.replace("\"A\": \"1\"", "\"A\": \"2\""));
}

#[test]
fn a_cap_that_is_no_longer_wanted_is_taken_back() {
    let world = World::new();
    let path = "repo/.claude/settings.local.json";
    apply(&world.plan_with(InstallScope::Local, "/opt/bin/steadfast", Some(51)).unwrap()).unwrap();
    assert!(world.read(path).unwrap().contains(STOP_BLOCK_CAP));
    world.install(InstallScope::Local);
    assert!(!world.read(path).unwrap().contains("env"));
}

#[test]
fn a_cap_that_the_user_set_is_not_ours_to_take() {
    let world = World::new();
    let path = "repo/.claude/settings.local.json";
    let before = "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"99\"}}";
    world.write(path, before);
    apply(&world.plan_with(InstallScope::Local, "/opt/bin/steadfast", Some(51)).unwrap()).unwrap();
    world.write(path, &format!("{} ", world.read(path).unwrap()));
    world.uninstall();
    assert_eq!(world.read(path).unwrap(), format!("{before} "));
}

#[test]
fn a_shared_file_names_the_program_and_no_path() {
    let world = World::new();
    world.install(InstallScope::Shared);
    for (path, text) in world.files() {
        assert!(text.contains("steadfast") && !text.contains("/opt/bin"), "{}: {text}", path.display());
    }
}

#[test]
fn the_record_of_a_file_that_its_host_writes_holds_nothing_else_of_it() {
    let world = World::new();
    world.write(".claude.json", "{\"primaryApiKey\": \"sk-secret\", \"projects\": {\"/x\": {\"a\": \"sk-secret\"}}}");
    world.write(".codex/config.toml", "token = \"sk-secret\"\n");
    world.install(InstallScope::Local);
    for entry in fs::read_dir(world.place().user_records).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let record = fs::read_to_string(path).unwrap();
        assert!(!record.contains("sk-secret"), "{record}");
    }
}
