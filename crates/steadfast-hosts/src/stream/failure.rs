//! Interprets the error text of a failed session. Hosts pass on the message of the model's service, so this is shared.

use steadfast_model::Millis;

use super::AgentEnd;

const CONTEXT: [&str; 5] =
    ["prompt is too long", "context window", "context_length_exceeded", "input is too long", "request too large"];

/// Errors that waiting does not fix.
const ACCESS: [&str; 14] = [
    "authenticate",
    "authentication",
    "/login",
    "not logged in",
    "invalid api key",
    "invalid_api_key",
    "oauth token",
    "unauthorized",
    "credit balance",
    "usage credits",
    "spend limit",
    "billing",
    "insufficient_quota",
    "quota exceeded",
];

const RATE: [&str; 6] =
    ["rate limit", "rate_limit", "usage limit", "session limit", "weekly limit", "too many requests"];

/// Classifies a failure. `status` is the HTTP status of the model's service if the host names it, `until` the end of a
/// limit reported earlier.
pub(super) fn failure(message: &str, status: Option<u64>, until: Option<Millis>) -> AgentEnd {
    let words = message.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|part| words.contains(part));
    let status = status.or_else(|| status_in(&words));
    if has(&CONTEXT) || status == Some(413) {
        AgentEnd::ContextFull
    } else if has(&ACCESS) || matches!(status, Some(401..=403)) {
        AgentEnd::NoAccess(message.to_owned())
    } else if has(&RATE) || matches!(status, Some(429 | 529)) {
        AgentEnd::RateLimited { until: reset_in(message).or(until) }
    } else {
        AgentEnd::Failed(if message.is_empty() { "no reason given".to_owned() } else { message.to_owned() })
    }
}

/// `API Error: 529 …`, `unexpected status 401 …`, `last status: 429 …`.
fn status_in(words: &str) -> Option<u64> {
    ["api error: ", "status: ", "status "].into_iter().find_map(|before| {
        let (_, after) = words.split_once(before)?;
        let digits = after.get(..3)?;
        let ends = !after.as_bytes().get(3).is_some_and(u8::is_ascii_digit);
        digits.parse().ok().filter(|_| ends)
    })
}

/// `Claude AI usage limit reached|1795392000`.
fn reset_in(message: &str) -> Option<Millis> {
    let (_, seconds) = message.trim().rsplit_once('|')?;
    seconds_since_1970(seconds.parse().ok()?)
}

pub(super) fn seconds_since_1970(seconds: i64) -> Option<Millis> {
    (seconds > 0).then(|| seconds.checked_mul(1_000).map(Millis)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(message: &str) -> AgentEnd {
        failure(message, None, Some(Millis(7)))
    }

    #[test]
    fn a_full_context_is_one_in_the_words_of_every_host() {
        for message in [
            "Prompt is too long",
            "Prompt is too long · automatic compaction failed: x",
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history.",
            "Request too large (max 32MB). Accumulated images pushed the request over the limit.",
            r#"{"error":{"code":"context_length_exceeded"}}"#,
        ] {
            assert_eq!(end(message), AgentEnd::ContextFull, "{message}");
        }
    }

    #[test]
    fn what_trying_again_does_not_mend_is_no_access() {
        for message in [
            "Invalid API key · Please run /login",
            "Failed to authenticate. API Error: 403 a scripted fault",
            "unexpected status 401 Unauthorized: a scripted fault, url: http://127.0.0.1:1/v1/responses",
            "API Error: 402 a scripted fault",
            "Credit balance is too low",
            "You've hit your monthly spend limit.",
            "Quota exceeded. Check your plan and billing details.",
        ] {
            assert_eq!(end(message), AgentEnd::NoAccess(message.to_owned()), "{message}");
        }
    }

    #[test]
    fn a_rate_limit_ends_when_the_host_said_so() {
        for message in [
            "You\u{2019}ve hit your usage limit. Try again later.",
            "exceeded retry limit, last status: 429 Too Many Requests",
            "API Error: 529 Overloaded",
        ] {
            assert_eq!(end(message), AgentEnd::RateLimited { until: Some(Millis(7)) }, "{message}");
        }
        let reached = end("Claude AI usage limit reached|1795392000");
        assert_eq!(reached, AgentEnd::RateLimited { until: Some(Millis(1_795_392_000_000)) });
    }

    #[test]
    fn all_else_has_failed() {
        for message in ["API Error: 400 a scripted fault", "status 40100", "API Error: 5"] {
            assert_eq!(end(message), AgentEnd::Failed(message.to_owned()), "{message}");
        }
        assert_eq!(end(""), AgentEnd::Failed("no reason given".to_owned()));
    }
}
