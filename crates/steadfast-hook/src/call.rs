use std::ffi::OsStr;
use std::path::Path;

use steadfast_hosts::install::link_call;
use steadfast_model::{Host, UnknownName, Via};

/// `steadfast hook --host H --via V EVENT`, as the host's settings call it. Parsed by hand, because an argument parser
/// would take longer than the rest of the hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    pub host: Host,
    pub via: Via,
    /// The event, as the host spells it.
    pub event: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("`{0}` is missing, expected `steadfast hook --host HOST --via WIRING EVENT`")]
    Missing(&'static str),
    #[error("`{0}` is unexpected, expected `steadfast hook --host HOST --via WIRING EVENT`")]
    Unexpected(String),
}

impl HookCall {
    /// Parses the name of a link to the binary. The hosts' settings call one link for each event.
    pub fn of_link(argv0: &OsStr) -> Option<Self> {
        let (host, via, event) = link_call(Path::new(argv0).file_name()?.to_str()?)?;
        Some(Self { host, via, event: event.to_owned() })
    }

    /// Returns the words after `steadfast hook` for the same call.
    pub fn words(&self) -> [&str; 5] {
        ["--host", self.host.as_str(), "--via", self.via.as_str(), &self.event]
    }

    /// Parses the words after `steadfast hook`.
    pub fn parse(arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Self, CallError> {
        let (mut host, mut via, mut event) = (None, None, None);
        let mut arguments = arguments.into_iter().map(|argument| argument.as_ref().to_string_lossy().into_owned());
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--host" => host = Some(arguments.next().ok_or(CallError::Missing("HOST"))?.parse()?),
                "--via" => via = Some(arguments.next().ok_or(CallError::Missing("WIRING"))?.parse()?),
                _ if argument.starts_with('-') || event.is_some() => return Err(CallError::Unexpected(argument)),
                _ => event = Some(argument),
            }
        }
        Ok(Self {
            host: host.ok_or(CallError::Missing("--host"))?,
            via: via.ok_or(CallError::Missing("--via"))?,
            event: event.ok_or(CallError::Missing("EVENT"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<HookCall, CallError> {
        HookCall::parse(line.split_whitespace())
    }

    #[test]
    fn the_installed_command_is_read() {
        let call = HookCall { host: Host::Codex, via: Via::User, event: "Stop".into() };
        assert_eq!(parse("--host codex --via user Stop"), Ok(call));
    }

    #[test]
    fn a_link_is_called_by_its_name() {
        let call = HookCall::of_link(OsStr::new("/home/a/hooks/steadfast-hook-claude-local-PreToolUse")).unwrap();
        assert_eq!(call, HookCall { host: Host::Claude, via: Via::Local, event: "PreToolUse".into() });
        assert_eq!(HookCall::parse(call.words()), Ok(call));
        assert_eq!(HookCall::of_link(OsStr::new("/usr/local/bin/steadfast")), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |line| parse(line).unwrap_err().to_string();
        assert!(said("--host emacs --via user Stop").starts_with("unknown host `emacs`"));
        assert!(said("--host codex Stop").starts_with("`--via` is missing"));
        assert!(said("--host codex --via user").starts_with("`EVENT` is missing"));
        assert!(said("--host codex --via user Stop Stop").starts_with("`Stop` is unexpected"));
    }
}
