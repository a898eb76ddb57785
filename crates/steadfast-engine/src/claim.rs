//! A tool call that runs `steadfast` leaves a claim. The command reads it to learn for which session it runs.

use steadfast_model::{Action, Claim, Effect, Event, EventKind, ToolCall};

/// The name of our MCP server in every host's settings.
const SERVER: &str = "steadfast";

pub(crate) fn effects(event: &Event) -> Vec<Effect> {
    let effect = match &event.kind {
        EventKind::PreTool(call) => claim(event, call).map(Effect::LeaveClaim),
        EventKind::PostTool(result) => claim(event, &result.call).map(|claim| Effect::DropClaim { call: claim.call }),
        _ => None,
    };
    effect.into_iter().collect()
}

fn claim(event: &Event, call: &ToolCall) -> Option<Claim> {
    let command = match &call.action {
        Action::Shell { command, .. } if runs_steadfast(command) => shortened(command),
        Action::Mcp { server, tool, .. } if server == SERVER => tool.clone(),
        _ => return None,
    };
    Some(Claim {
        call: call.id.clone()?,
        session: event.session.clone(),
        agent: event.agent.as_ref().map(|agent| agent.id.clone()),
        host: event.host,
        cwd: event.cwd.clone(),
        command,
        at: event.at,
    })
}

/// May return true for other lines, too: a claim that no command reads does no harm.
fn runs_steadfast(command: &str) -> bool {
    calls(command).next().is_some()
}

/// Returns the part of a command line that its claim keeps: the whole line, or for a long line the words after each
/// `steadfast`.
fn shortened(command: &str) -> String {
    /// Bytes kept after each `steadfast`.
    const WORDS: usize = 512;
    if command.len() <= Event::STORED {
        return command.to_owned();
    }
    let mut kept = String::new();
    for (_, after) in calls(command).take(Event::STORED / WORDS) {
        kept.push_str("steadfast");
        kept.push_str(&after[..after.floor_char_boundary(WORDS)]);
        kept.push('\n');
    }
    kept
}

/// Returns the text before and after each word `steadfast` (plain, or at the end of a path) of a command line.
pub(crate) fn calls(command: &str) -> impl Iterator<Item = (&str, &str)> {
    command.match_indices("steadfast").filter_map(|(start, word)| {
        let (before, after) = (&command[..start], &command[start + word.len()..]);
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let begins = !before.ends_with(inside);
        let ends = !after.starts_with(|c: char| inside(c) || c == '.' || c == '/');
        (begins && ends).then_some((before, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_runs_steadfast_is_seen_however_it_is_spelled() {
        for command in [
            "steadfast task done 1",
            "cd x && steadfast task list",
            "/usr/local/bin/steadfast task start 2",
            "'steadfast' task next",
            "FOO=1 ./bin/steadfast mcp",
        ] {
            assert!(runs_steadfast(command), "{command}");
        }
    }

    #[test]
    fn a_claim_of_a_long_line_keeps_its_calls() {
        let line =
            format!("cat > notes <<'E'\n{}\nE\nsteadfast task done 4\n{}", "x ".repeat(20_000), "y".repeat(9_000));
        let kept = shortened(&line);
        assert!(kept.contains("task done 4") && kept.len() < Event::STORED, "{}", kept.len());
    }

    #[test]
    fn a_file_or_a_crate_of_that_name_is_not_it() {
        for command in ["cat steadfast.toml", "cargo test -p steadfast-hook", "ls crates/steadfast/src", "unsteadfast"]
        {
            assert!(!runs_steadfast(command), "{command}");
        }
    }
}
