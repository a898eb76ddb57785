use super::super::server_toml;
use super::*;

fn toml_round_trip(before: &str) -> String {
    let merged = server_toml::merge(before, "/opt/bin/steadfast").unwrap();
    let document: toml_edit::DocumentMut = merged.parse().unwrap();
    assert_eq!(document["mcp_servers"]["steadfast"]["command"].as_str(), Some("/opt/bin/steadfast"), "{merged}");
    assert_eq!(server_toml::merge(&merged, "/opt/bin/steadfast").unwrap(), merged);
    server_toml::strip(&merged).unwrap()
}

#[test]
fn a_configuration_comes_back_byte_for_byte() {
    for before in [
        "",
        "\n",
        "a = 1",
        "a = 1\n",
        "a = 1\n\n\n",
        "a = 1\r\n[b]\r\nc = 2 # x\r\n\r\n# end\r\n",
        "# only a comment",
        "[mcp_servers]\nx = { command = \"y\" }\n",
        "[mcp_servers.x]\ncommand = \"y\"\n\n[[z]]\n",
        "\u{feff}a = 1\n",
    ] {
        assert_eq!(toml_round_trip(before), before, "{before:?}");
    }
}

#[test]
fn a_new_server_stands_at_the_end() {
    assert_eq!(
        server_toml::merge("a = 1\n", "/x y/steadfast").unwrap(),
        "a = 1\n\n[mcp_servers.steadfast]\ncommand = \"/x y/steadfast\"\nargs = [\"mcp\"]\n"
    );
}

#[test]
fn what_codex_adds_below_our_server_goes_with_it() {
    let merged = server_toml::merge("a = 1\n", "/opt/bin/steadfast").unwrap();
    let grown = format!(
        "{merged}enabled = true # yes\n\n[mcp_servers.steadfast.tools.why]\napproval_mode = \"approve\"\n\n[hooks.state.\"x\"]\ntrusted_hash = \"y\"\n"
    );
    assert_eq!(server_toml::strip(&grown).unwrap(), "a = 1\n\n[hooks.state.\"x\"]\ntrusted_hash = \"y\"\n");
}

#[test]
fn a_moved_binary_changes_one_value() {
    let before =
        "[mcp_servers.steadfast] # mine\ncommand = '/old/steadfast'\nargs = [ \"mcp\" ]\nenv = { A = \"b\" }\n";
    assert_eq!(
        server_toml::merge(before, "/opt/bin/steadfast").unwrap(),
        before.replace("'/old/steadfast'", "\"/opt/bin/steadfast\"")
    );
}

#[test]
fn another_server_of_our_name_is_not_overwritten() {
    let before = "[mcp_servers.steadfast]\ncommand = \"/usr/bin/other\"\n";
    let error = server_toml::merge(before, "/opt/bin/steadfast").unwrap_err();
    assert_eq!(error.to_string(), "1:1: `mcp_servers.steadfast` belongs to another program");
    assert_eq!(server_toml::strip(before).unwrap(), before);
}

#[test]
fn servers_in_braces_are_not_added_to() {
    let error = server_toml::merge("mcp_servers = { x = { command = \"y\" } }\n", "/opt/bin/steadfast").unwrap_err();
    assert_eq!(error.to_string(), "1:15: `mcp_servers` is an inline table, expected tables like `[mcp_servers.name]`");
}

#[test]
fn a_configuration_that_is_not_toml_is_located() {
    let error = server_toml::merge("a = 1\nb = \n", "/opt/bin/steadfast").unwrap_err();
    assert!(error.to_string().starts_with("2:5: "), "{error}");
}

fn json_server(before: &str, servers: &[&str]) -> Result<String, SettingsError> {
    let servers = servers.iter().map(|key| (*key).to_owned()).collect();
    let part = Part::Server { servers, program: "/opt/bin/steadfast".to_owned() };
    part.merge(before, Remembered::default())
}

#[test]
fn a_server_of_a_project_is_filed_as_claude_code_files_it() {
    let merged = json_server("{}", &["projects", "/repo", "mcpServers"]).unwrap();
    let merged: serde_json::Value = serde_json::from_str(&merged).unwrap();
    let server = serde_json::json!({"type": "stdio", "command": "/opt/bin/steadfast", "args": ["mcp"]});
    assert_eq!(merged, serde_json::json!({"projects": {"/repo": {"mcpServers": {"steadfast": server}}}}));
}

#[test]
fn another_json_server_of_our_name_is_not_overwritten() {
    let error = json_server(r#"{"mcpServers": {"steadfast": {"url": "http://x"}}}"#, &["mcpServers"]).unwrap_err();
    assert_eq!(error.to_string(), "1:30: `mcpServers.steadfast` belongs to another program");
}
