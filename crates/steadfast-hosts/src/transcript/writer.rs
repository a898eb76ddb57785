use serde::{Deserialize, Serialize};
use steadfast_model::Host;

use super::field::{Object, Text};

/// The program that wrote a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    Claude,
    Codex,
    /// GitHub Copilot: recognised, but not supported.
    Copilot,
    /// Gemini CLI: recognised, but not supported.
    Gemini,
}

impl Writer {
    /// Returns the host, if its transcripts are supported.
    pub fn host(self) -> Option<Host> {
        match self {
            Self::Claude => Some(Host::Claude),
            Self::Codex => Some(Host::Codex),
            Self::Copilot | Self::Gemini => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "GitHub Copilot",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Identifies the writer of a line; `None` if several programs could have written it.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Signs<'a> {
            #[serde(rename = "type", borrow)]
            kind: Text<'a>,
            #[serde(rename = "sessionId", borrow)]
            session: Text<'a>,
            #[serde(borrow)]
            uuid: Text<'a>,
            #[serde(rename = "leafUuid", borrow)]
            leaf: Text<'a>,
            #[serde(rename = "projectHash", borrow)]
            project: Text<'a>,
            payload: Object<Nothing>,
            #[serde(borrow)]
            data: Object<Data<'a>>,
            #[serde(borrow)]
            call_id: Text<'a>,
            #[serde(borrow)]
            role: Text<'a>,
            #[serde(borrow)]
            record_type: Text<'a>,
        }
        #[derive(Deserialize)]
        struct Nothing {}
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Data<'a> {
            #[serde(borrow)]
            producer: Text<'a>,
        }

        if !line.starts_with(b"{") {
            return None;
        }
        let signs: Signs<'_> = serde_json::from_slice(line).ok()?;
        let kind = signs.kind.get().unwrap_or_default();
        let copilots = signs.data.0.as_ref().is_some_and(|data| data.producer.is("copilot-agent"));
        if copilots || (signs.data.0.is_some() && kind.contains('.')) {
            return Some(Self::Copilot);
        }
        if signs.project.0.is_some() {
            return Some(Self::Gemini);
        }
        const CODEX: [&str; 6] =
            ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
        if CODEX.contains(&kind) && signs.payload.0.is_some() {
            return Some(Self::Codex);
        }
        if signs.session.0.is_some() || signs.uuid.0.is_some() || signs.leaf.0.is_some() {
            return Some(Self::Claude);
        }
        if matches!(kind, "file-history-snapshot" | "summary") {
            return Some(Self::Claude);
        }
        // The first versions of Codex wrote bare items of the model.
        (signs.call_id.0.is_some() || signs.role.0.is_some() || signs.record_type.0.is_some()).then_some(Self::Codex)
    }
}
