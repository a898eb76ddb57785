//! The cost of a session since its loop started, from the host's transcript.

use steadfast_hosts::price::Prices;
use steadfast_hosts::transcript::Cost;
use steadfast_model::{Millis, SessionId};
use steadfast_store::{ConfigFiles, Place, SessionFiles};

/// Returns millionths of a US dollar. `None`: the transcript of the session is unknown.
pub fn cost_since(place: &Place, config: &ConfigFiles, session: &SessionId, since: Millis) -> Option<u64> {
    let files = SessionFiles::of(place, session);
    let transcript = files.noted_transcript()?;
    let before = files.noted_cost().map(|text| Cost::kept(&text)).unwrap_or_default();
    let prices = match config.load() {
        Ok(settings) => Prices::of_settings(&settings.run.prices.value),
        Err(_) => Prices::built_in(),
    };
    let cost = before.clone().look(&transcript, since, &prices);
    if cost != before {
        // If this cannot be saved, the next call reads the transcript again.
        let _ = files.note_cost(&cost.to_text());
    }
    Some(cost.micro_usd())
}
