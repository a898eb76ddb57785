use std::fmt::Write;

/// A SPEC.json of so many tasks in phases of a hundred.
pub(crate) fn synthetic_spec(tasks: usize) -> String {
    const PHASE: usize = 100;
    let mut text = String::from("{\"feature\": \"Many things\", \"description\": \"All of them.\", \"phases\": [");
    for first in (0..tasks).step_by(PHASE) {
        let phase = first / PHASE + 1;
        // Writing into a string does not fail.
        let _ = write!(text, "{}{{\"id\": \"p{phase}\", \"name\": \"Phase {phase}\", \"tasks\": [", comma(first));
        for (place, number) in (first..tasks.min(first + PHASE)).enumerate() {
            let after = if place == 0 { String::new() } else { format!("\"{phase}.{place}\"") };
            let _ = write!(
                text,
                "{}{{\"id\": \"{phase}.{}\", \"task\": \"Do the thing number {number}\", \"type\": \"{}\", \
                 \"files\": [\"src/{number}.rs\"], \"verification\": {{\"command\": \"cargo test\"}}, \
                 \"depends_on\": [{after}]}}",
                comma(place),
                place + 1,
                ["none", "backend", "ui", "docs"][number % 4],
            );
        }
        text.push_str("]}");
    }
    text.push_str("]}");
    text
}

fn comma(place: usize) -> &'static str {
    if place == 0 { "" } else { ", " }
}
