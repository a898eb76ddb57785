//! Hosts that write slowly, close early, or never close.

use std::thread;
use std::time::Duration;

use serde_json::json;
use steadfast_model::{Gate, GateScope, Millis, SessionId};
use steadfast_store::close_gate;

use super::rng::SeededRng;
use super::scene::{Running, Said, Scene};
use super::{Figures, inspect};
use crate::Result;

/// The limit for an answer: a second, and more on a busy machine.
const BOUND: Duration = Duration::from_millis(2_000);

pub(super) fn stdin(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work("s-1", 2)?;
    let gate = Gate::new(GateScope::Session(SessionId::new("gated")), "the plan is not approved", Millis(1));
    close_gate(&scene.place(), &gate)?;
    let edit = |session: &str| {
        let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a"}, "tool_use_id": "call-1"});
        scene.payload(session, edit)
    };

    thread::scope(|scope| {
        let mut hosts = Vec::new();
        // Byte by byte in 0.2 to 0.6 seconds: the hook reads to the end and answers.
        let (mut own, payload) = (rng.fork(), edit("slow"));
        hosts.push(scope.spawn(move || {
            tell(scene, "PreToolUse", move |hook| {
                let pause = Duration::from_micros((200_000 + own.below(400_000)) / payload.len() as u64);
                for byte in payload.as_bytes() {
                    hook.write(&[*byte]);
                    thread::sleep(pause);
                }
                hook.close();
            })?
            .silent()
            .map_err(|error| error.to_string())
        }));
        // Closed in the middle: the hook answers nothing. With a closed gate it denies tool calls.
        let (mut own, payload) = (rng.fork(), edit("early"));
        hosts.push(scope.spawn(move || {
            let cut = own.below(payload.len() as u64) as usize;
            let part = payload.as_bytes()[..cut].to_vec();
            let said = tell(scene, "PreToolUse", |hook| hook.feed(&part))?;
            let after = tell(scene, "PostToolUse", |hook| hook.feed(&part))?;
            after.silent().map_err(|error| error.to_string())?;
            if said.denies() { Ok(()) } else { Err(format!("behind a closed gate: {}", said.told())) }
        }));
        // Never closed, after all, some or none of the payload.
        for event in ["PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"] {
            let (mut own, payload) = (rng.fork(), edit("never"));
            hosts.push(scope.spawn(move || {
                let cut = own.below(payload.len() as u64 + 1) as usize;
                let said = tell(scene, event, |hook| {
                    hook.write(&payload.as_bytes()[..cut]);
                })?;
                match event {
                    "PreToolUse" if said.denies() && said.code == Some(0) => Ok(()),
                    "PreToolUse" => Err(format!("behind a closed gate: {}", said.told())),
                    _ => said.silent().map_err(|error| format!("{event}: {error}")),
                }
            }));
        }
        for host in hosts {
            host.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;

    let slow = inspect::session(&scene.session("slow"))?;
    if slow.tool_calls != 1 {
        return Err("a slow host's call is not in the journal".into());
    }
    scene.stop("s-1")?.refused()?;
    inspect::session(&scene.session("s-1"))?;
    Ok(vec![("hosts", 7)])
}

/// Runs a hook with a host that behaves as `behave` does. The pipe stays open unless `behave` closes it.
fn tell(scene: &Scene, event: &str, behave: impl FnOnce(&mut Running)) -> std::result::Result<Said, String> {
    let mut hook = scene.open_hook(event).map_err(|error| error.to_string())?;
    behave(&mut hook);
    let said = hook.end().map_err(|error| error.to_string())?;
    if said.took > BOUND {
        return Err(format!("an answer took {:?}", said.took));
    }
    Ok(said)
}
