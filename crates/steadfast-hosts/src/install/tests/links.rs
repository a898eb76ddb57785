//! The links that the hosts start.

use super::*;

fn links(world: &World) -> PathBuf {
    world.place().user_records.join("hooks")
}

fn targets(world: &World) -> Vec<String> {
    let entries = fs::read_dir(links(world)).into_iter().flatten();
    entries.map(|entry| fs::read_link(entry.unwrap().path()).unwrap().display().to_string()).collect()
}

#[test]
fn each_event_has_a_link_to_the_binary_and_the_settings_name_it() {
    let world = World::new();
    world.install(InstallScope::Local);
    assert_eq!(targets(&world), vec!["/opt/bin/steadfast"; lines(Host::Claude).len() + 1]);
    let settings: serde_json::Value =
        serde_json::from_str(&world.read("repo/.claude/settings.local.json").unwrap()).unwrap();
    for line in lines(Host::Claude) {
        let handler = &settings["hooks"][line.event.as_str()][0]["hooks"][0];
        let link = links(&world).join(format!("steadfast-hook-claude-local-{}", line.event.as_str()));
        assert_eq!(handler["command"], link.display().to_string());
        assert_eq!(handler["args"], serde_json::json!([]));
        assert!(fs::read_link(link).is_ok());
    }
}

#[test]
fn a_path_that_a_shell_would_take_apart_is_quoted_and_has_no_args() {
    let wiring = Wiring { program: "/a $(b)/steadfast-hook-claude-local".to_owned(), ..wiring() };
    let text = merge_claude_settings("", &wiring).unwrap();
    assert!(text.contains(r#""command": "'/a $(b)/steadfast-hook-claude-local-Stop'","#), "{text}");
    assert!(!text.contains("args"), "{text}");
    assert_eq!(merge_claude_settings(&text, &wiring).unwrap(), text);
}

#[test]
fn no_line_of_any_file_needs_args() {
    for scope in InstallScope::ALL {
        let world = World::new();
        world.install(scope);
        let all = world.files();
        let hooks =
            all.iter().filter(|(path, _)| path.ends_with("settings.json") || path.ends_with("settings.local.json"));
        for (path, text) in hooks {
            let settings: serde_json::Value = serde_json::from_str(text).unwrap();
            for groups in settings["hooks"].as_object().unwrap().values() {
                let handler = &groups[0]["hooks"][0];
                assert!(handler["args"].as_array().is_none_or(Vec::is_empty), "{}: {handler}", path.display());
            }
        }
    }
}

#[test]
fn a_moved_binary_is_followed_and_a_lost_link_comes_back() {
    let world = World::new();
    world.install(InstallScope::Local);
    fs::remove_file(links(&world).join("steadfast-hook-claude-local-Stop")).unwrap();
    apply(&world.plan_with(InstallScope::Local, "/usr/bin/steadfast", None).unwrap()).unwrap();
    assert_eq!(targets(&world), vec!["/usr/bin/steadfast"; lines(Host::Claude).len() + 1]);
}

#[test]
fn the_links_go_with_the_last_checkout_that_uses_them() {
    let world = World::new();
    fs::create_dir(world.home.join("other")).unwrap();
    let other = world.place_of("other");
    let hosts = [Host::Claude];
    let binary = Path::new("/opt/bin/steadfast");
    let request = InstallRequest {
        hosts: &hosts,
        scope: InstallScope::Local,
        place: &other,
        binary,
        stop_block_cap: None,
        allow: &[],
    };
    apply(&plan_install(&request).unwrap()).unwrap();
    world.install(InstallScope::Local);
    world.uninstall();
    assert_eq!(targets(&world).len(), lines(Host::Claude).len() + 1);
    apply(&plan_uninstall(&hosts, &InstallScope::ALL, &other, &Path::exists).unwrap()).unwrap();
    assert!(!world.home.join(".local/state/steadfast").exists());
}

#[test]
fn what_an_older_version_wrote_is_written_anew_and_taken_out() {
    let words = |event: &str| serde_json::json!(["hook", "--host", "claude", "--via", "local", event]);
    let script = "command -v steadfast >/dev/null || exit 0; exec steadfast \"$@\"";
    let shell = |event: &str| {
        serde_json::json!(["-c", script, "steadfast", "hook", "--host", "claude", "--via", "project", event])
    };
    let old = |command: &str, args: &dyn Fn(&str) -> serde_json::Value| {
        let events = lines(Host::Claude).iter().map(|line| {
            let event = line.event.as_str();
            let handler =
                serde_json::json!({"type": "command", "command": command, "args": args(event), "timeout": 10});
            (event.to_owned(), serde_json::json!([{"hooks": [handler]}]))
        });
        let hooks: serde_json::Map<_, _> = events.collect();
        serde_json::json!({"hooks": hooks}).to_string()
    };
    for (scope, file, text) in [
        (InstallScope::Local, "settings.local.json", old("/opt/bin/steadfast", &words)),
        (InstallScope::Shared, "settings.json", old("sh", &shell)),
    ] {
        let world = World::new();
        let path = format!("repo/.claude/{file}");
        world.write(&path, &text);
        let place = world.place();
        let found = inspect(Host::Claude, &place.homes, &place.root).remove(0).unwrap();
        assert!(found.wired()[0].needs_args());
        world.install(scope);
        let found = inspect(Host::Claude, &place.homes, &place.root).remove(0).unwrap();
        assert!(!found.wired()[0].needs_args());
        assert_eq!(found.ours.len(), lines(Host::Claude).len());
        world.uninstall();
        world.write(&path, &text);
        world.uninstall();
        assert!(!world.read(&path).is_some_and(|text| text.contains("steadfast")));
    }
}
