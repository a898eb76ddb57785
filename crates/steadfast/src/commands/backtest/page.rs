//! The report as one self-contained page: without scripts, fonts or links.

use std::collections::BTreeMap;
use std::fmt::Write;

use steadfast_work::replay::PolicyExample;

use super::summary::{Summary, Tally, shown};

const STYLE: &str = include_str!("page.css");

pub(super) fn page(summary: &Summary) -> String {
    let spoke = summary.policies.iter().filter(|tally| tally.said > 0).count();
    let numbers: String = [
        (summary.sessions as u64, "sessions"),
        (summary.actions, "actions"),
        (summary.policies.iter().map(|tally| tally.said).sum(), "verdicts"),
        (spoke as u64, "policies with verdicts"),
    ]
    .iter()
    .map(|(number, what)| format!("<div><b>{}</b><span>{what}</span></div>", grouped(*number)))
    .collect();
    let policies: String = summary.policies.iter().map(|tally| policy(summary, tally)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Steadfast: backtest</title>\n<style>\n{STYLE}</style>\n<main>\n\
         <h1>Verdicts of the policies</h1>\n\
         <p class=\"lead\">Past sessions, replayed through the rules of live sessions{}. Nothing was changed.</p>\n\
         <div class=\"numbers\">{numbers}</div>\n{policies}</main>\n</html>\n",
        escaped(&summary.left_out())
    )
}

fn policy(summary: &Summary, tally: &Tally) -> String {
    let mut text = format!(
        "<section>\n<div class=\"head\"><h2>{}</h2><p class=\"rate\"><b>{:.1}</b> in 1,000 actions, {} in total</p></div>\n",
        tally.policy,
        summary.per_1000(tally),
        grouped(tally.said)
    );
    if tally.said == 0 {
        text += "<p class=\"silent\">No verdicts.</p>\n</section>\n";
        return text;
    }
    let verdicts: BTreeMap<String, u64> =
        tally.verdicts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    for (heading, counts) in [("Verdicts", &verdicts), ("Tools", &tally.on)] {
        let _ = write!(text, "<h3>{heading}</h3>\n<div class=\"bars\">{}</div>\n", bars(counts));
    }
    if !tally.examples.is_empty() {
        let examples: String = tally.examples.iter().map(|(on, verdict, one)| example(on, verdict, one)).collect();
        let _ = write!(text, "<h3>Examples</h3>\n<ol>\n{examples}</ol>\n");
    }
    text + "</section>\n"
}

/// Bars for counts, the most frequent first.
fn bars(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let most = counts.first().map_or(1, |(_, count)| **count).max(1);
    counts
        .iter()
        .map(|(name, count)| {
            let share = **count * 100 / most;
            let (name, count) = (escaped(name), grouped(**count));
            format!(
                "<span>{name}</span><span class=\"rail\"><i style=\"width:{share}%\"></i></span>\
                 <span class=\"count\">{count}</span>"
            )
        })
        .collect()
}

fn example(on: &str, verdict: &str, example: &PolicyExample) -> String {
    let PolicyExample { file, session, at, target, reason } = example;
    format!(
        "<li><span class=\"verdict {verdict}\">{verdict}</span><code>{} {}</code>\n<p>{}</p>\n\
         <p class=\"where\">{at}, session {}, {}</p></li>\n",
        escaped(on),
        escaped(&shown(target)),
        with_code(&shown(reason)),
        escaped(session),
        escaped(&file.display().to_string())
    )
}

/// Marks text between backticks as code.
fn with_code(text: &str) -> String {
    let parts = escaped(text);
    let parts: Vec<&str> = parts.split('`').collect();
    let paired = parts.len() % 2 == 1;
    let part = |(number, part): (usize, &&str)| {
        if paired && number % 2 == 1 { format!("<code>{part}</code>") } else { (*part).to_owned() }
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(if paired { "" } else { "`" })
}

/// `18250` as `18,250`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_cannot_become_part_of_the_page() {
        assert_eq!(escaped("<script>\"a\" && b"), "&lt;script&gt;&quot;a&quot; &amp;&amp; b");
    }

    #[test]
    fn what_is_code_looks_like_it() {
        assert_eq!(with_code("run `a < b` now"), "run <code>a &lt; b</code> now");
        assert_eq!(with_code("one ` alone"), "one ` alone");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 18_250, 1_234_567].map(grouped), ["0", "999", "1,000", "18,250", "1,234,567"]);
    }
}
