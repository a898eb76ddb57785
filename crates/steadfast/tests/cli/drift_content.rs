//! What a session writes, by its words: as hooks bring it.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SESSION: &str = "s-words";

const AUTH: &str = "refresh cookie expiry rotate login credential issuer audience claim signature nonce bearer revoke \
    grant principal tenant salt digest keyring vault renewal lifetime subject verifier challenge passkey federation \
    broker consent realm introspect jwks kerberos saml oidc totp fido webauthn";

impl Sandbox {
    fn back(&self, id: &str, tool: &str, input: &Value, answer: &Value) -> String {
        let call = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": answer});
        self.hook("PostToolUse", SESSION, call)
    }

    /// Asked to fix one thing, it read a file about it and wrote there.
    fn knows(&self) {
        self.hook("UserPromptSubmit", SESSION, json!({"prompt": "Fix the expiry of cookies."}));
        let path = self.root().join("src/auth/cookie.rs");
        let answer = json!({"type": "text", "file": {"filePath": path, "content": AUTH}});
        self.back("read", "Read", &json!({"file_path": path}), &answer);
        self.replace("first", "src/auth/cookie.rs", "refresh", "refresh cookie expiry rotate");
    }

    fn replace(&self, id: &str, path: &str, old: &str, new: &str) -> String {
        let input = json!({"file_path": self.root().join(path), "old_string": old, "new_string": new});
        self.back(id, "Edit", &input, &json!({}))
    }
}

#[test]
fn what_lies_beside_the_work_and_is_about_something_else_is_corrected() {
    let sandbox = Sandbox::new();
    sandbox.knows();
    let theme = "palette gradient footer banner typography carousel hover shadow margin ornament";
    assert_eq!(sandbox.replace("one", "src/auth/store.rs", "x", "rotate the bearer, revoke the grant"), "");
    let asked = sandbox.replace("two", "src/auth/page.rs", "x", theme);
    assert!(asked.contains("Is this part of the goal?") && asked.contains("few words of the work"), "{asked}");
    let told = sandbox.replace("three", "src/auth/menu.rs", "x", theme);
    assert!(told.contains("This leads away from the goal"), "{told}");
}

#[test]
fn the_same_lines_changed_to_and_fro_are_told_of() {
    let sandbox = Sandbox::new();
    sandbox.knows();
    let file = "src/auth/cookie.rs";
    let (short, long) = ("let lifetime = 30;", "let lifetime = 60;");
    assert_eq!(sandbox.replace("one", file, short, long), "");
    // With more of the file around it.
    let around = |line: &str| format!("fn renewal() {{\n    {line}\n}}");
    assert_eq!(sandbox.replace("two", file, &around(long), &around(short)), "");
    let told = sandbox.replace("three", file, short, long);
    assert!(told.contains("The same lines were changed back and forth 3 times."), "{told}");
}

#[test]
fn of_what_was_read_no_word_is_kept_and_little_else() {
    let sandbox = Sandbox::new();
    sandbox.knows();
    let folder = sandbox.session(SESSION);
    let [state, journal] = ["state", "journal"].map(|name| fs::read_to_string(folder.dir().join(name)).unwrap());
    for word in ["kerberos", "passkey", "introspect"] {
        assert!(!state.contains(word) && !journal.contains(word), "{word}");
    }
    assert!(state.len() < 8_000, "{}", state.len());
}
