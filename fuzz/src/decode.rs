//! Whatever a host sends: no panic, and what is kept of it is bounded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_hosts::{WireContext, decode};
use steadfast_model::{EventName, Host, Millis, Via};

fuzz_target!(|data: &[u8]| {
    let around = WireContext { at: Millis(0), cwd: "/".into(), session: None, attended: None, other_host: None };
    let Some((choice, payload)) = data.split_first() else { return };
    let event = EventName::ALL[usize::from(*choice) % EventName::ALL.len()];
    let host = Host::ALL[usize::from(*choice >> 5) % Host::ALL.len()];
    if let Ok(event) = decode(host, Via::Local, event.as_str(), payload, &around) {
        let kept = serde_json::to_vec(&event).expect("an event is JSON");
        // Escapes can make six bytes of one.
        assert!(kept.len() < 6 * payload.len() + 1_000, "{} bytes became {}", payload.len(), kept.len());
    }
});
