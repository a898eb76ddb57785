//! The report as one self-contained page: without scripts, fonts or links.

use std::collections::BTreeMap;
use std::fmt::Write;

use steadfast_engine::turn::TurnKind;
use steadfast_text::grouped;
use steadfast_work::replay::PolicyExample;

use super::summary::{Summary, Tally, shown, what, words_of};

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
    let turns: String = TurnKind::ALL.iter().map(|kind| turns(summary, *kind)).collect();
    let policies: String = summary.policies.iter().map(|tally| policy(summary, tally)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Steadfast: backtest</title>\n<style>\n{STYLE}</style>\n<main>\n\
         <h1>Verdicts of the policies</h1>\n\
         <p class=\"lead\">Past sessions, replayed through the rules of live sessions{}. Nothing was changed.</p>\n\
         <div class=\"numbers\">{numbers}</div>\n{turns}{policies}</main>\n</html>\n",
        escaped(&summary.left_out())
    )
}

/// A section for one kind of finding.
fn turns(summary: &Summary, kind: TurnKind) -> String {
    let (found, examples) = summary.turns_of(kind);
    let head = format!(
        "<section>\n<div class=\"head\"><h2>The agent {}</h2><p class=\"rate\"><b>{}</b> found</p></div>\n",
        what(kind),
        grouped(found)
    );
    let examples: String = examples
        .iter()
        .map(|one| {
            format!(
                "<li><p>{}</p>\n<p class=\"where\">{}, turn {}, session {}, {}</p></li>\n",
                with_code(&words_of(one)),
                one.finding.at,
                one.finding.turn,
                escaped(&one.session),
                escaped(&one.file.display().to_string())
            )
        })
        .collect();
    let examples = if examples.is_empty() {
        "<p class=\"silent\">None found.</p>\n".to_owned()
    } else {
        format!("<ol>\n{examples}</ol>\n")
    };
    format!("{head}{examples}</section>\n")
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
}
