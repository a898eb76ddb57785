//! Times in the time zone of the reader. JSON has milliseconds or RFC 3339 in UTC instead.

use std::sync::OnceLock;

use steadfast_model::Millis;
use steadfast_text::Zone;

use crate::environment;

static ZONE: OnceLock<Zone> = OnceLock::new();

/// Prints all times in UTC. Comes before the first time is printed.
pub(crate) fn in_utc() {
    let _ = ZONE.set(Zone::UTC);
}

pub(crate) fn zone() -> &'static Zone {
    ZONE.get_or_init(environment::zone)
}

/// `14:05`, or `2026-11-18 14:05` on another day.
pub(crate) fn moment(at: Millis) -> String {
    zone().moment(at.0, environment::now().0)
}

/// `14:05:09`, for a list with a line for each day.
pub(crate) fn clock(at: Millis) -> String {
    zone().clock(at.0)
}

/// `2026-11-19`
pub(crate) fn day(at: Millis) -> String {
    zone().day(at.0)
}

/// `Thu 2026-11-19, CET`
pub(crate) fn day_line(at: Millis) -> String {
    zone().day_line(at.0)
}

/// `2026-11-19 14:05:09`, for a pipe.
pub(crate) fn stamp(at: Millis) -> String {
    zone().stamp(at.0)
}
