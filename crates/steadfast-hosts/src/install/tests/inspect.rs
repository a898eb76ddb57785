use super::super::inspect::inspect_with;
use super::*;

fn files(world: &World, host: Host) -> Vec<HooksFile> {
    let place = world.place();
    let managed = world.home.join("managed");
    inspect_with(host, &place.homes, &place.root, &managed).into_iter().map(Result::unwrap).collect()
}

#[test]
fn what_was_installed_is_found_with_its_program_and_its_way() {
    for (scope, host, program, via) in [
        (InstallScope::Local, Host::Claude, "steadfast-hook-claude-local", Via::Local),
        (InstallScope::Shared, Host::Claude, "steadfast", Via::Project),
        (InstallScope::User, Host::Claude, "steadfast-hook-claude-user", Via::User),
        (InstallScope::User, Host::Codex, "/opt/bin/steadfast", Via::User),
    ] {
        let world = World::new();
        world.install(scope);
        let [file] = files(&world, host).try_into().unwrap();
        assert_eq!(file.ours.len(), lines(host).len());
        let links = world.place().user_records.join("hooks");
        let program =
            if program.contains("-hook-") { links.join(program).display().to_string() } else { program.into() };
        assert!(file.ours.iter().all(|hook| hook.program == program && hook.via == via), "{:?}", file.ours);
        assert!(file.ours.iter().all(|hook| !hook.needs_args), "{:?}", file.ours);
    }
}

#[test]
fn a_program_with_a_space_is_read_back() {
    let world = World::new();
    apply(&world.plan_with(InstallScope::User, "/opt/a b/steadfast", None).unwrap()).unwrap();
    assert_eq!(files(&world, Host::Codex)[0].ours[0].program, "/opt/a b/steadfast");
}

#[test]
fn stop_hooks_of_others_are_counted_and_ours_are_not() {
    let world = World::new();
    let others = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"lint"},{"type":"prompt"}]}],
        "PreToolUse":[{"hooks":[{"type":"command","command":"guard"}]}]}}"#;
    world.write("repo/.claude/settings.local.json", others);
    world.install(InstallScope::Local);
    assert_eq!(files(&world, Host::Claude)[0].other_stop_hooks, 2);
}

#[test]
fn the_strongest_file_comes_first() {
    let world = World::new();
    for path in [
        ".claude/settings.json",
        "repo/.claude/settings.json",
        "repo/.claude/settings.local.json",
        "managed/managed-settings.json",
        "managed/managed-settings.d/10-first.json",
        "managed/managed-settings.d/20-second.json",
    ] {
        world.write(path, r#"{"disableAllHooks":false,"allowManagedHooksOnly":true}"#);
    }
    let found = files(&world, Host::Claude);
    let paths: Vec<_> =
        found.iter().map(|file| file.path.strip_prefix(&world.home).unwrap().to_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "managed/managed-settings.d/20-second.json",
            "managed/managed-settings.d/10-first.json",
            "managed/managed-settings.json",
            "repo/.claude/settings.local.json",
            "repo/.claude/settings.json",
            ".claude/settings.json"
        ]
    );
    assert_eq!(found.iter().filter(|file| file.managed).count(), 3);
    assert!(found.iter().all(|file| file.disable_all == Some(false) && file.managed_only));
}

#[test]
fn a_raised_cap_is_read_however_it_is_written() {
    for cap in ["\"51\"", "51"] {
        let world = World::new();
        let text = format!("{{\"env\":{{\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\":{cap}}}}}");
        world.write(".claude/settings.json", &text);
        assert_eq!(files(&world, Host::Claude)[0].stop_block_cap, Some(51));
    }
}

#[test]
fn a_file_that_does_not_parse_is_an_error_beside_the_others() {
    let world = World::new();
    world.install(InstallScope::Local);
    world.write(".claude/settings.json", "{,}");
    let place = world.place();
    let found = inspect(Host::Claude, &place.homes, &place.root);
    let said = found.iter().find_map(|file| file.as_ref().err()).unwrap().to_string();
    assert!(said.contains(".claude/settings.json:1:2: "), "{said}");
    assert!(found.iter().any(|file| file.as_ref().is_ok_and(|file| !file.ours.is_empty())));
}

#[test]
fn codex_trusts_the_hooks_its_config_names_and_no_others() {
    let world = World::new();
    world.install(InstallScope::User);
    let [file] = files(&world, Host::Codex).try_into().unwrap();
    let hooks = world.home.join(".codex/hooks.json");
    let config = format!(
        "[features]\nhooks = false\n\n[[hooks.Stop]]\n\n[hooks.state.'{0}:pre_tool_use:0:0']\ntrusted_hash = \"sha256:1\"\n\n\
         [hooks.state.\"{0}:stop:0:0\"]\nenabled = false\n",
        hooks.display()
    );
    world.write(".codex/config.toml", &config);
    let place = world.place();
    let [config] = codex_configs(&place.homes, &place.root).try_into().unwrap();
    let config = config.unwrap();
    let trusted: Vec<_> = file.ours.iter().filter(|hook| config.trusts(&file, hook)).map(|hook| &*hook.event).collect();
    let off: Vec<_> =
        file.ours.iter().filter(|hook| config.switches_off(&file, hook)).map(|hook| &*hook.event).collect();
    assert_eq!((trusted, off), (vec!["PreToolUse"], vec!["Stop"]));
    assert_eq!((config.hooks, config.stop_hooks), (Some(false), 1));
}

#[test]
fn a_bare_name_is_looked_for_on_the_path_and_a_path_is_left_alone() {
    let world = World::new();
    let place = world.place();
    assert_eq!(resolve("/opt/steadfast", &place.homes, &place.root), Some("/opt/steadfast".into()));
    assert_eq!(resolve("steadfast", &place.homes, &place.root), None);
}

#[test]
fn a_way_that_lacks_something_is_told_from_one_that_is_whole() {
    let world = World::new();
    world.install(InstallScope::Local);
    let path = world.place().root.join(".claude/settings.local.json");
    let way = |lacking: &[&str]| Way {
        via: Via::Local,
        program: world.place().user_records.join("hooks/steadfast-hook-claude-local").display().to_string(),
        lacking: lacking.iter().map(|event| (*event).to_owned()).collect(),
    };
    assert_eq!(switches(Host::Claude, &path).unwrap(), Switches { ways: vec![way(&[])], off: None });
    let mut settings: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("Stop");
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Read".into();
    settings["disableAllHooks"] = true.into();
    fs::write(&path, settings.to_string()).unwrap();
    let lacking = way(&["Stop", "PreToolUse (matcher Read)"]);
    assert_eq!(switches(Host::Claude, &path).unwrap(), Switches { ways: vec![lacking], off: Some(true) });
    fs::remove_file(&path).unwrap();
    assert_eq!(switches(Host::Claude, &path).unwrap(), Switches::default());
}

#[test]
fn codex_is_switched_off_in_its_configuration() {
    let world = World::new();
    let place = world.place();
    let config = place.homes.codex_dir().join("config.toml");
    assert!(watched(Host::Codex, &place.homes, &place.root).contains(&config));
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    for (text, off) in
        [("", None), ("[features]\nhooks = false\n", Some(true)), ("[features]\nhooks = true\n", Some(false))]
    {
        fs::write(&config, text).unwrap();
        assert_eq!(switches(Host::Codex, &config).unwrap(), Switches { off, ..Switches::default() }, "{text}");
    }
}
