//! Which revision of MCP a request speaks.
//!
//! Up to 2025-11-25 a handshake agrees on one for the whole connection. Since 2026-07-28 there is none: each request
//! names its own. We answer both in one process and remember nothing, since between the old ones nothing that we say
//! differs.

use serde_json::{Map, Value, json};

use super::message::Fault;

const STATELESS: &str = "2026-07-28";
const WITH_HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const UNSUPPORTED: i64 = -32_022;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revision {
    WithHandshake,
    Stateless,
}

impl Revision {
    pub(super) fn of(params: &Map<String, Value>) -> Result<Self, Fault> {
        let named = params.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
        match named.and_then(Value::as_str) {
            None => Ok(Self::WithHandshake),
            Some(STATELESS) => Ok(Self::Stateless),
            Some(version) if WITH_HANDSHAKE.contains(&version) => Ok(Self::WithHandshake),
            Some(version) => Err(Fault::new(UNSUPPORTED, "Unsupported protocol version")
                .with(json!({"supported": Self::all(), "requested": version}))),
        }
    }

    pub(super) fn all() -> Vec<&'static str> {
        [&[STATELESS], WITH_HANDSHAKE.as_slice()].concat()
    }

    /// What a handshake agrees on: what was asked for, else the newest that has one.
    pub(super) fn agree(asked: Option<&str>) -> &'static str {
        WITH_HANDSHAKE.into_iter().find(|known| asked == Some(known)).unwrap_or(WITH_HANDSHAKE[0])
    }

    /// A result with what this revision asks of every one.
    pub(super) fn dress(self, mut result: Value, server: &Value) -> Value {
        if self == Self::Stateless {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": server});
        }
        result
    }

    /// A result that may be kept. Ours are soon stale: `init` and `uninstall` change them.
    pub(super) fn keepable(self, mut result: Value) -> Value {
        if self == Self::Stateless {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        result
    }
}
