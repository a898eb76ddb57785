//! Times as a person reads them, in the person's time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time zone of the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    pub const UTC: Self = Self(TimeZone::UTC);

    #[must_use]
    pub fn new(zone: TimeZone) -> Self {
        Self(zone)
    }

    /// A moment in the past or the future: `14:05`, or with its date if that is not the day of `now`. A time in UTC says
    /// so, also where the zone of this machine is unknown.
    #[must_use]
    pub fn moment(&self, millis: i64, now: i64) -> String {
        let date = self.day(millis);
        let date = if date == self.day(now) { String::new() } else { format!("{date} ") };
        format!("{date}{}{}", self.format(millis, "%H:%M"), self.suffix())
    }

    /// The time of an event in a list that has a line for each day: `14:05:09`.
    #[must_use]
    pub fn clock(&self, millis: i64) -> String {
        self.format(millis, "%H:%M:%S")
    }

    /// A moment with its date, for a line that a program may read: `2026-11-19 14:05:09`.
    #[must_use]
    pub fn stamp(&self, millis: i64) -> String {
        self.format(millis, "%Y-%m-%d %H:%M:%S")
    }

    /// `2026-11-19`
    #[must_use]
    pub fn day(&self, millis: i64) -> String {
        self.format(millis, "%Y-%m-%d")
    }

    /// The line above the events of a day: `Thu 2026-11-19, CET`.
    #[must_use]
    pub fn day_line(&self, millis: i64) -> String {
        self.format(millis, "%a %Y-%m-%d, %Z")
    }

    fn suffix(&self) -> &'static str {
        let is_utc = self.0 == TimeZone::UTC || matches!(self.0.iana_name(), Some("UTC" | "Etc/UTC"));
        if is_utc { " UTC" } else { "" }
    }

    fn format(&self, millis: i64, format: &str) -> String {
        let at =
            Timestamp::from_millisecond(millis.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond()));
        at.unwrap_or_default().to_zoned(self.0.clone()).strftime(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_795_079_109_000; // 2026-11-19T09:05:09Z

    #[test]
    fn a_moment_has_its_date_only_on_another_day() {
        let new_york = Zone::new(TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap());
        assert_eq!(new_york.moment(AT, AT), "04:05");
        assert_eq!(new_york.moment(AT, AT + 20 * 3_600_000), "2026-11-19 04:05");
        assert_eq!(new_york.moment(AT - 5 * 3_600_000, AT), "2026-11-18 23:05", "its day begins at its own midnight");
        assert_eq!(Zone::UTC.moment(AT, AT), "09:05 UTC");
        assert_eq!(new_york.day_line(AT), "Thu 2026-11-19, EST");
        assert_eq!((new_york.clock(AT), new_york.stamp(AT)), ("04:05:09".to_owned(), "2026-11-19 04:05:09".to_owned()));
    }

    #[test]
    fn times_beyond_all_calendars_are_no_panic() {
        for millis in [i64::MIN, i64::MAX, 0] {
            assert!(!Zone::UTC.moment(millis, 0).is_empty());
        }
    }
}
