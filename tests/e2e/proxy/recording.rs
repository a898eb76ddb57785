//! The file that `--record` writes.

use std::os::unix::fs::PermissionsExt;

use super::*;

on!(a_recording_has_no_credential_and_is_replayed: claude_2_1_325, codex_0_166_0);

/// The token in the address of the proxy, as the agent that read its own command line told the model.
fn token_of(requests: &[Request]) -> String {
    let texts = requests.iter().map(Request::text);
    let tokens = texts.flat_map(|text| {
        let parts: Vec<String> = text.split("http://127.0.0.1:").skip(1).map(str::to_owned).collect();
        parts.into_iter().filter_map(|part| {
            let (_, path) = part.split_once('/')?;
            let token: String = path.chars().take_while(char::is_ascii_hexdigit).collect();
            (token.len() == 32).then_some(token)
        })
    });
    tokens.into_iter().next().expect("the agent did not read its command line")
}

fn a_recording_has_no_credential_and_is_replayed(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&[]);
    fs::write(scene.state().join("steadfast.toml"), "[drift]\nconstraints = [\"don't touch forbidden.txt\"]\n")
        .unwrap();
    let file = scene.dir().join("recording.jsonl");
    // The model learns all that the agent knows.
    let tell = "tr '\\0' '\\n' < /proc/$PPID/environ | grep KEY; tr '\\0' ' ' < /proc/$PPID/cmdline";
    let work = Scenario::new("recorded")
        .prompt(PROMPT)
        .turn(Turn::saying("I write it.").calling([Action::write("forbidden.txt", "mine\n")]))
        .shell(tell)
        .say("Done.");
    let session = scene.session(work).started_by(["proxy", "--record", file.to_str().unwrap(), "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let requests = main_requests(&run);
    let token = token_of(&requests);
    assert!(requests.iter().any(|request| request.text().contains("dummy-key")), "the agent did not read its key");
    let recording = fs::read_to_string(&file).unwrap();
    for secret in ["dummy-key", &token] {
        assert!(!recording.contains(secret), "{secret} is in the recording");
    }
    let said =
        run.errors.lines().find(|line| line.starts_with("recorded ")).unwrap_or_else(|| panic!("{}", run.errors));
    let exchanges = recording.lines().count() - 1;
    assert!(exchanges >= requests.len() && said.starts_with(&format!("recorded {exchanges} exchanges in ")), "{said}");
    // A recording stays private, and a second one does not replace it.
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let steadfast = scene.bin().join("steadfast");
    let again = scene.command(&steadfast, &["proxy", "--record", file.to_str().unwrap(), "--", "true"]);
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(fs::read_to_string(&file).unwrap(), recording);

    let replayed = scene.command(&steadfast, &["replay", file.to_str().unwrap()]);
    let (said, errors) = (String::from_utf8_lossy(&replayed.stdout), String::from_utf8_lossy(&replayed.stderr));
    assert!(replayed.status.success(), "{errors}");
    let refused: Vec<&str> = said.lines().filter(|line| line.contains("constraint (enforce)  deny")).collect();
    assert!(refused.len() == 1 && refused[0].contains("forbidden.txt"), "{said}{errors}");
    assert!(errors.contains("2 actions, "), "{errors}");
    let rows = scene.command(&steadfast, &["replay", "--json", file.to_str().unwrap()]);
    let rows = String::from_utf8(rows.stdout).unwrap();
    let verdicts: Vec<Value> =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["verdict"].clone()).collect();
    assert_eq!(verdicts, ["deny", "pass"], "{rows}");
}
