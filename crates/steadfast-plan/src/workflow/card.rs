//! The completion card that a loop prints when it passes its gate.

use steadfast_text::one_line;

/// The facts on the card. Each one was recorded; none is an estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// Ids and titles of the tasks, in their order.
    pub tasks: Vec<(String, String)>,
    /// Ids of the tasks that a human closed without a check.
    pub forced: Vec<String>,
    /// The kind of evidence, in a few words: `execution output`.
    pub verified: String,
    pub done: usize,
    pub all: usize,
    /// Further facts, each with its label: `Reviews`, `2 rounds`.
    pub facts: Vec<(String, String)>,
    /// Findings that were left open on purpose: waived or deferred.
    pub risks: Vec<String>,
}

/// Width inside the frame, without the margins.
const NARROWEST: usize = 35;
const WIDEST: usize = 76;

impl Card {
    pub fn render(&self) -> String {
        let head = match self.forced.len() {
            0 => "All tasks verified:".to_owned(),
            forced => format!("All tasks closed, {forced} of {} by a human without a check:", self.tasks.len()),
        };
        let mut text = format!("<loop-complete>\n{head}\n");
        for (id, title) in &self.tasks {
            let word = if self.forced.contains(id) { " (closed by a human without a check)" } else { "" };
            text += &format!("- {id}: ✓ {}{word}\n", one_line(title));
        }
        text.push('\n');
        text += &self.frame();
        text + "</loop-complete>\n"
    }

    fn frame(&self) -> String {
        let mut lines = folded("", &format!("Verified: {}", one_line(&self.verified)));
        lines.push(format!("Tasks: {}/{} complete", self.done, self.all));
        for (label, fact) in &self.facts {
            lines.extend(folded("", &format!("{label}: {}", one_line(fact))));
        }
        let risks: Vec<String> =
            self.risks.iter().flat_map(|risk| folded("  ", &format!("↳ Risk: {}", one_line(risk)))).collect();
        let longest = lines.iter().chain(&risks).map(|line| line.chars().count()).max().unwrap_or(0);
        let width = longest.max(NARROWEST);
        let row = |line: &String| format!("│ {line}{} │\n", " ".repeat(width - line.chars().count()));

        // The green circle is two columns wide.
        const TITLE: &str = "─ 🟢 SHIP ";
        let mut frame = format!("╭{TITLE}{}╮\n", "─".repeat(width + 2 - (TITLE.chars().count() + 1)));
        frame.extend(lines.iter().map(row));
        if !risks.is_empty() {
            frame += &format!("├{}┤\n", "─".repeat(width + 2));
            frame.extend(risks.iter().map(row));
        }
        frame + &format!("╰{}╯\n", "─".repeat(width + 2))
    }
}

/// Wraps the text to the widest line. Lines after the first are indented by the margin.
fn folded(margin: &str, text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDEST {
            lines.push(std::mem::replace(&mut line, margin.to_owned()));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    // A word longer than a line is cut, or it would break the frame.
    lines.into_iter().map(|line| line.chars().take(WIDEST).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Card {
        Card {
            tasks: vec![("1.1".into(), "Make codes".into()), ("1.2".into(), "Send them".into())],
            verified: "execution output".into(),
            done: 2,
            all: 2,
            ..Card::default()
        }
    }

    #[test]
    fn a_card_without_risks_has_no_second_part() {
        insta::assert_snapshot!(card().render(), @r"
        <loop-complete>
        All tasks verified:
        - 1.1: ✓ Make codes
        - 1.2: ✓ Send them

        ╭─ 🟢 SHIP ───────────────────────────╮
        │ Verified: execution output          │
        │ Tasks: 2/2 complete                 │
        ╰─────────────────────────────────────╯
        </loop-complete>
        ");
    }

    #[test]
    fn what_a_human_closed_without_a_check_is_not_called_verified() {
        let said = Card { forced: vec!["1.2".into()], ..card() }.render();
        let expected = "<loop-complete>\nAll tasks closed, 1 of 2 by a human without a check:\n- 1.1: ✓ Make codes\n- 1.2: ✓ Send \
                        them (closed by a human without a check)\n";
        assert!(said.starts_with(expected), "{said}");
    }

    #[test]
    fn a_long_risk_is_folded_and_the_frame_stays_whole() {
        let risk =
            "waived: src/mail.rs:12 the address is not checked before it is used (why: the form does that already)";
        let card = Card {
            facts: vec![("Reviews".into(), "2 rounds, 1 blocker fixed".into())],
            risks: vec![risk.into(), "x".repeat(200)],
            ..card()
        };
        insta::assert_snapshot!(card.render(), @r"
        <loop-complete>
        All tasks verified:
        - 1.1: ✓ Make codes
        - 1.2: ✓ Send them

        ╭─ 🟢 SHIP ────────────────────────────────────────────────────────────────────╮
        │ Verified: execution output                                                   │
        │ Tasks: 2/2 complete                                                          │
        │ Reviews: 2 rounds, 1 blocker fixed                                           │
        ├──────────────────────────────────────────────────────────────────────────────┤
        │ ↳ Risk: waived: src/mail.rs:12 the address is not checked before it is used  │
        │   (why: the form does that already)                                          │
        │ ↳ Risk:                                                                      │
        │   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx │
        ╰──────────────────────────────────────────────────────────────────────────────╯
        </loop-complete>
        ");
        let widths: Vec<usize> = card.frame().lines().skip(1).map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    }
}
