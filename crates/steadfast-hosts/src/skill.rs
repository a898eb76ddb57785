//! Finds the skills that a host offers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use steadfast_model::Host;

use crate::install::Homes;

/// A folder with this file is a skill.
const SKILL: &str = "SKILL.md";

/// Codex caches plugins as `MARKETPLACE/PLUGIN/VERSION`. At most this many folders of a cache are read.
const MOST_CACHED: usize = 1_000;

/// Returns true if the host offers a skill of this name in a checkout: from the project, the user or an enabled plugin.
/// The name may have a plugin prefix: `ui:brand`. Skills from the command line (`--plugin-dir`) or from the service are
/// not found.
pub fn is_skill_installed(host: Host, name: &str, root: &Path, homes: &Homes) -> bool {
    let name = name.trim().trim_start_matches('/');
    let (plugin, bare) = match name.split_once(':') {
        Some((plugin, bare)) => (Some(plugin), bare),
        None => (None, name),
    };
    // The name must be a single folder, not a path.
    if bare.is_empty() || matches!(bare, "." | "..") || bare.contains(['/', '\\']) {
        return false;
    }
    match host {
        Host::Claude => in_claude(plugin, bare, root, homes),
        Host::Codex => in_codex(plugin, bare, root, homes),
        // The simulated agent has no skills.
        Host::Sim => false,
    }
}

fn in_claude(plugin: Option<&str>, name: &str, root: &Path, homes: &Homes) -> bool {
    let folders = [root.join(".claude"), homes.claude_dir()];
    if plugin.is_none() && folders.iter().any(|folder| offers(folder, name)) {
        return true;
    }
    let matches_plugin = |found: &str| plugin.is_none_or(|plugin| plugin == found);
    // A folder of skills may contain a whole plugin.
    let nested = folders.iter().flat_map(|folder| subfolders(&folder.join("skills")));
    let mut nested = nested.filter(|folder| folder.join(".claude-plugin/plugin.json").is_file());
    nested.any(|folder| folder_name(&folder).is_some_and(matches_plugin) && plugin_offers(&folder, name))
        || claude_plugins(root, homes)
            .iter()
            .any(|(found, folder)| matches_plugin(found) && plugin_offers(folder, name))
}

/// `skills/NAME/SKILL.md`, or a command, which Claude Code offers like a skill.
fn offers(folder: &Path, name: &str) -> bool {
    folder.join("skills").join(name).join(SKILL).is_file()
        || folder.join("commands").join(format!("{name}.md")).is_file()
}

/// Searches a plugin's own folders and those in its manifest.
fn plugin_offers(folder: &Path, name: &str) -> bool {
    if offers(folder, name) {
        return true;
    }
    let manifest = read_json(&folder.join(".claude-plugin/plugin.json"));
    let named = match manifest.as_ref().and_then(|manifest| manifest.get("skills")) {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    named.into_iter().map(|path| folder.join(path)).any(|path| {
        let is_itself = folder_name(&path) == Some(name) && path.join(SKILL).is_file();
        is_itself || path.join(name).join(SKILL).is_file()
    })
}

/// Lists the enabled plugins of Claude Code that are installed for this checkout or for the user.
fn claude_plugins(root: &Path, homes: &Homes) -> Vec<(String, PathBuf)> {
    let Some(installed) = read_json(&homes.claude_dir().join("plugins/installed_plugins.json")) else {
        return Vec::new();
    };
    let Some(plugins) = installed.get("plugins").and_then(Value::as_object) else { return Vec::new() };
    // The layers of settings, the strongest first.
    let layers = [
        root.join(".claude/settings.local.json"),
        root.join(".claude/settings.json"),
        homes.claude_dir().join("settings.json"),
    ]
    .map(|file| read_json(&file));
    let is_on = |id: &str| {
        layers.iter().flatten().find_map(|layer| layer.get("enabledPlugins")?.get(id)?.as_bool()).unwrap_or(true)
    };
    let mut found = Vec::new();
    for (id, entries) in plugins.iter().filter(|(id, _)| is_on(id)) {
        let name = id.split('@').next().unwrap_or(id);
        // An older file has one entry in place of the list.
        let entries = entries.as_array().map_or(std::slice::from_ref(entries), Vec::as_slice);
        for entry in entries {
            let here =
                entry.get("projectPath").and_then(Value::as_str).is_none_or(|path| is_same(Path::new(path), root));
            if let Some(path) = entry.get("installPath").and_then(Value::as_str).filter(|_| here) {
                found.push((name.to_owned(), PathBuf::from(path)));
            }
        }
    }
    found
}

fn in_codex(plugin: Option<&str>, name: &str, root: &Path, homes: &Homes) -> bool {
    let codex = homes.codex_dir();
    let folders = [
        root.join(".agents/skills"),
        root.join(".codex/skills"),
        homes.home.join(".agents/skills"),
        codex.join("skills"),
        codex.join("skills/.system"),
    ];
    if plugin.is_none() && folders.iter().any(|folder| folder.join(name).join(SKILL).is_file()) {
        return true;
    }
    let cache = codex.join("plugins/cache");
    let plugins = subfolders(&cache).into_iter().flat_map(|marketplace| subfolders(&marketplace));
    let mut plugins = plugins.filter(|folder| plugin.is_none() || folder_name(folder) == plugin).take(MOST_CACHED);
    plugins.any(|folder| subfolders(&folder).iter().any(|version| plugin_offers(version, name)))
}

fn is_same(left: &Path, right: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    left == right || real(left) == real(right)
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).take(MOST_CACHED).collect()
}

fn folder_name(folder: &Path) -> Option<&str> {
    folder.file_name()?.to_str()
}

fn read_json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        dir: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            Self { dir: tempfile::tempdir().unwrap() }
        }

        fn root(&self) -> PathBuf {
            self.dir.path().join("repo")
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn sees(&self, name: &str) -> [bool; 2] {
            let homes =
                Homes { home: self.dir.path().join("home"), claude_config_dir: None, codex_home: None, path: None };
            [Host::Claude, Host::Codex].map(|host| is_skill_installed(host, name, &self.root(), &homes))
        }
    }

    #[test]
    fn a_stock_machine_has_none() {
        let world = World::new();
        assert_eq!(world.sees("brand"), [false, false]);
        // A folder without its text is none, and a name is no path.
        fs::create_dir_all(world.root().join(".claude/skills/brand")).unwrap();
        world.write("repo/.claude/skills/x/SKILL.md", "");
        world.write("repo/.claude/SKILL.md", "");
        for name in ["brand", "", "..", "../skills/x", "brand/x"] {
            assert_eq!(world.sees(name), [false, false], "{name}");
        }
    }

    #[test]
    fn a_project_and_a_user_have_their_own() {
        for (file, host) in [
            ("repo/.claude/skills/brand/SKILL.md", [true, false]),
            ("home/.claude/skills/brand/SKILL.md", [true, false]),
            ("repo/.claude/commands/brand.md", [true, false]),
            ("repo/.agents/skills/brand/SKILL.md", [false, true]),
            ("home/.agents/skills/brand/SKILL.md", [false, true]),
            ("home/.codex/skills/brand/SKILL.md", [false, true]),
        ] {
            let world = World::new();
            world.write(file, "");
            assert_eq!(world.sees("/brand"), host, "{file}");
            assert_eq!(world.sees("other"), [false, false], "{file}");
        }
    }

    #[test]
    fn a_plugin_brings_its_skills_where_it_is_installed_and_on() {
        let world = World::new();
        let folder = world.dir.path().join("cache/ui/1.0.0").display().to_string();
        let root = world.root().display().to_string();
        world.write("cache/ui/1.0.0/skills/brand/SKILL.md", "");
        let installed = |entry: &str| {
            let text = format!("{{\"version\":2,\"plugins\":{{\"ui@shop\":{entry}}}}}");
            world.write("home/.claude/plugins/installed_plugins.json", &text);
        };
        installed(&format!("[{{\"scope\":\"user\",\"installPath\":\"{folder}\"}}]"));
        assert_eq!(world.sees("brand"), [true, false]);
        assert_eq!(world.sees("ui:brand"), [true, false]);
        assert_eq!(world.sees("other:brand"), [false, false]);

        world.write("home/.claude/settings.json", "{\"enabledPlugins\":{\"ui@shop\":false}}");
        assert_eq!(world.sees("brand"), [false, false], "switched off");
        world.write("repo/.claude/settings.json", "{\"enabledPlugins\":{\"ui@shop\":true}}");
        assert_eq!(world.sees("brand"), [true, false], "the project switches it on");

        installed(&format!("[{{\"scope\":\"project\",\"projectPath\":\"/elsewhere\",\"installPath\":\"{folder}\"}}]"));
        assert_eq!(world.sees("brand"), [false, false], "another project's");
        installed(&format!("[{{\"scope\":\"project\",\"projectPath\":\"{root}\",\"installPath\":\"{folder}\"}}]"));
        assert_eq!(world.sees("brand"), [true, false]);
        installed(&format!("{{\"installPath\":\"{folder}\"}}"));
        assert_eq!(world.sees("brand"), [true, false], "as older versions wrote it");
    }

    #[test]
    fn a_manifest_may_name_other_folders_and_codex_caches_plugins() {
        let world = World::new();
        let folder = "home/.codex/plugins/cache/shop/ui/1.0.0";
        world.write(&format!("{folder}/.claude-plugin/plugin.json"), "{\"skills\":[\"./more/\",\"./one/look\"]}");
        world.write(&format!("{folder}/more/brand/SKILL.md"), "");
        world.write(&format!("{folder}/one/look/SKILL.md"), "");
        assert_eq!([world.sees("brand"), world.sees("look"), world.sees("ui:look")], [[false, true]; 3]);
        assert_eq!([world.sees("more"), world.sees("x:look")], [[false, false]; 2]);
    }
}
