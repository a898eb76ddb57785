use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::*;

/// A home, a folder and an environment.
struct World {
    dir: tempfile::TempDir,
    homes: Homes,
    environment: BTreeMap<String, String>,
    login: CodexLogin,
    upstream: Option<String>,
    asked: RefCell<u32>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let homes = Homes { home: dir.path().to_owned(), claude_config_dir: None, codex_home: None, path: None };
        let (environment, asked) = (BTreeMap::new(), RefCell::default());
        Self { dir, homes, environment, login: CodexLogin::ApiKey, upstream: None, asked }
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn login(mut self, login: CodexLogin) -> Self {
        self.login = login;
        self
    }

    fn of(&self, line: &[&str]) -> Result<BehindProxy, BehindError> {
        let variable = |name: &str| self.environment.get(name).cloned();
        let codex_login = |_: &OsStr| {
            *self.asked.borrow_mut() += 1;
            self.login
        };
        let folder = self.dir.path().join("repo");
        let around = Surroundings {
            homes: &self.homes,
            folder: &folder,
            variable: &variable,
            codex_login: &codex_login,
            upstream: self.upstream.as_deref(),
        };
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        BehindProxy::of(&line[0], &line[1..], &around)
    }

    fn urls(&self, line: &[&str]) -> Vec<String> {
        self.of(line).unwrap().upstreams.into_iter().map(|upstream| upstream.url).collect()
    }

    fn words(&self, line: &[&str]) -> Vec<String> {
        let launch = self.of(line).unwrap().launch(&["http://proxy/a".to_owned(), "http://proxy/b".to_owned()]);
        assert!(!launch.clear_env);
        launch.args.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn settings(&self, line: &[&str]) -> serde_json::Value {
        let words = self.words(line);
        assert_eq!(words[0], "--settings");
        assert_eq!(words.iter().take_while(|word| *word != "--").filter(|word| *word == "--settings").count(), 1);
        serde_json::from_str(&words[1]).unwrap()
    }
}

#[test]
fn claude_calls_what_the_strongest_of_its_settings_names() {
    let world = World::new();
    assert_eq!(world.urls(&["claude"]), [ANTHROPIC]);
    let world = world.env(ANTHROPIC_VARIABLE, "http://environment");
    assert_eq!(world.urls(&["/opt/claude"]), ["http://environment"]);
    let user = r#"{"env": {"ANTHROPIC_BASE_URL": "http://user"}}"#;
    let world = world.file(".claude/settings.json", user);
    assert_eq!(world.urls(&["claude"]), ["http://user"]);
    let world = world.file("repo/.claude/settings.local.json", &user.replace("user", "local"));
    assert_eq!(world.urls(&["claude"]), ["http://local"]);
    let given = user.replace("user", "given");
    assert_eq!(world.urls(&["claude", "-p", "--settings", &given, "--", "x"]), ["http://given"]);
    let world = world.file("repo/mine.json", &given);
    assert_eq!(world.urls(&["claude", "--settings=mine.json"]), ["http://given"]);
    assert!(world.of(&["claude", "--settings", "other.json"]).unwrap_err().to_string().contains("other.json"));
}

#[test]
fn claude_gets_one_settings_argument_with_the_users_own_settings_in_it() {
    let world = World::new();
    let kept = json!({"ENABLE_TOOL_SEARCH": "true", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING": "1"});
    let mut env = kept;
    env["ANTHROPIC_BASE_URL"] = "http://proxy/a".into();
    assert_eq!(world.settings(&["claude", "-p", "--", "--settings"]), json!({ "env": env }));
    let given = json!({"model": "m", "env": {"ANTHROPIC_BASE_URL": "http://gateway", "A": "b"}}).to_string();
    let line = ["claude", "--settings", &given, "-p", "--", "x"];
    let expected = json!({"model": "m", "env": {"ANTHROPIC_BASE_URL": "http://proxy/a", "A": "b"}});
    assert_eq!(world.settings(&line), expected);
    assert_eq!(world.words(&line)[2..], ["-p", "--", "x"]);
    assert!(world.of(&["claude"]).unwrap().leaves_first_party());
    assert!(!world.of(&line).unwrap().leaves_first_party());
}

#[test]
fn claude_with_another_cloud_cannot_be_behind_the_proxy() {
    let world = World::new().file(".claude/settings.json", r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}"#);
    let error = world.of(&["claude"]).unwrap_err().to_string();
    assert!(error.contains("CLAUDE_CODE_USE_BEDROCK"), "{error}");
    assert!(World::new().env("CLAUDE_CODE_USE_VERTEX", "0").of(&["claude"]).is_ok());
}

#[test]
fn codex_with_its_own_provider_calls_the_service_of_its_login() {
    let of = |login| World::new().login(login).of(&["codex"]).map(|behind| behind.upstreams[0].url.clone());
    assert_eq!(of(CodexLogin::ApiKey).unwrap(), OPENAI);
    assert_eq!(of(CodexLogin::ChatGpt).unwrap(), "https://chatgpt.com/backend-api/codex");
    assert!(matches!(of(CodexLogin::None), Err(BehindError::NotLoggedIn)));
    assert!(matches!(of(CodexLogin::Unknown), Err(BehindError::UnknownLogin)));
    let world = World::new().file(".codex/config.toml", "openai_base_url = \"http://mine/v1\"\n");
    assert_eq!((world.urls(&["codex"]), *world.asked.borrow()), (vec!["http://mine/v1".to_owned()], 0));
}

#[test]
fn codex_keeps_the_built_in_provider_with_another_address() {
    let line = ["codex", "exec", "-c", "model=\"m\"", "-c", "openai_base_url=http://mine", "--", "-c"];
    let expected = [
        "-c",
        "openai_base_url=http://mine",
        "-c",
        "openai_base_url=\"http://proxy/a\"",
        "exec",
        "-c",
        "model=\"m\"",
        "--",
        "-c",
    ];
    assert_eq!(World::new().words(&line), expected);
    assert_eq!(World::new().urls(&line), ["http://mine"]);
}

#[test]
fn codex_keeps_the_users_own_provider_and_the_proxys_address_comes_last() {
    let config = "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"http://mine/v1\"\n\
                  [model_providers.other]\nbase_url = \"http://other/v1\"\n[model_providers.bare]\nname = \"b\"\n";
    let world = World::new().file(".codex/config.toml", config);
    assert_eq!(world.urls(&["codex"]), ["http://mine/v1"]);
    assert_eq!(world.urls(&["codex", "-c", "model_provider=other"]), ["http://other/v1"]);
    let line = ["codex", "exec", "--config=model_providers.mine={base_url=\"http://given\"}", "x"];
    assert_eq!(world.urls(&line), ["http://given"]);
    let expected = [
        "-c",
        "model_providers.mine={base_url=\"http://given\"}",
        "-c",
        "model_providers.mine.base_url=\"http://proxy/a\"",
        "-c",
        "model_providers.mine.supports_websockets=false",
        "exec",
        "x",
    ];
    assert_eq!(world.words(&line), expected);
    for line in [&["codex", "-c", "model_provider=bare"][..], &["codex", "--oss"]] {
        assert!(matches!(world.of(line), Err(BehindError::NoAddress { .. })), "{line:?}");
    }
    let world = world.file(".codex/work.config.toml", "model_provider = \"other\"\n");
    assert_eq!(world.urls(&["codex", "-p", "work"]), ["http://other/v1"]);
}

#[test]
fn another_agent_is_told_by_its_environment() {
    let world = World::new().env(OPENAI_VARIABLE, "http://local:11434/v1");
    let behind = world.of(&["aider", "--yes"]).unwrap();
    assert_eq!(world.urls(&["aider"]), [ANTHROPIC, "http://local:11434/v1"]);
    let launch = behind.launch(&["http://proxy/a".to_owned(), "http://proxy/b".to_owned()]);
    let variables = [(ANTHROPIC_VARIABLE, "http://proxy/a"), (OPENAI_VARIABLE, "http://proxy/b")];
    assert_eq!(launch.env, variables.map(|(name, value)| (name.to_owned(), value.into())));
    assert_eq!(launch.args, ["--yes"]);
}

#[test]
fn a_companys_proxy_never_gets_the_requests_to_ours() {
    let world = World::new().env("HTTP_PROXY", "http://company:3128").env("NO_PROXY", "intern");
    let codex = world.of(&["codex"]).unwrap();
    assert_eq!(codex.network(["HTTP_PROXY", "http_proxy"]), Some("http://company:3128"));
    let env = codex.launch(&["http://proxy/a".to_owned()]).env;
    assert_eq!(env, ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), "intern,127.0.0.1".into())));
    // Claude Code's settings beat its environment.
    let world = world.file(".claude/settings.json", r#"{"env": {"NO_PROXY": "lab"}}"#);
    assert_eq!(world.settings(&["claude"])["env"]["NO_PROXY"], "lab,127.0.0.1");
    assert_eq!(World::new().env("HTTPS_PROXY", "http://company").of(&["codex"]).unwrap().launch(&["u".into()]).env, []);
}

#[test]
fn a_login_is_read_from_what_codex_prints() {
    let warned = "WARNING: proceeding\nAPI key configured - sk-test-***\nAuthentication is checked later.\n";
    for (said, login) in [
        (warned, CodexLogin::ApiKey),
        ("Logged in using ChatGPT\n", CodexLogin::ChatGpt),
        ("Not logged in\n", CodexLogin::None),
        ("Logged in using Amazon Bedrock API key\n", CodexLogin::Unknown),
        ("", CodexLogin::Unknown),
    ] {
        assert_eq!(CodexLogin::of_status(said), login, "{said}");
    }
}
