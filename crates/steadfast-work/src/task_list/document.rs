//! The decisions file as text: updates Steadfast's parts and keeps everything else.

/// The content of the file, from the ledger.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSpec {
    pub(super) feature: String,
    pub(super) objective: String,
    pub(super) constraints: Vec<String>,
    pub(super) criteria: Vec<String>,
    pub(super) phases: Vec<KnownPhase>,
    /// The lines under the last heading.
    pub(super) state: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct KnownPhase {
    pub(super) name: String,
    /// `what: why`, the oldest first.
    pub(super) decisions: Vec<String>,
    /// True if its decision task is done.
    pub(super) is_decided: bool,
}

/// Placeholder in the section of a phase that was started without a decision. The first decision replaces it.
const NOTHING: &str = "- [nothing decided]";

const STATE: &str = "Current State";

/// The heading of a phase's decisions: `Letters Decisions`, `Phase 1 Decisions: Letters`.
pub(super) fn heading(phase: &str) -> String {
    match phase.split_once(": ") {
        Some((number, name)) => format!("{number} Decisions: {name}"),
        None => format!("{phase} Decisions"),
    }
}

/// The section with the decisions of a phase. Older versions wrote `Phase 1: Letters Decisions`.
fn section_of(sections: &[Section], phase: &str) -> Option<usize> {
    let titles = [heading(phase), format!("{phase} Decisions")];
    titles.iter().find_map(|title| sections.iter().position(|section| section.is(title)))
}

/// Renders a new file, or adds to the present one what it lacks. Removes nothing that a person or agent wrote.
pub(super) fn render(present: Option<&str>, known: &KnownSpec) -> String {
    let mut sections = match present {
        Some(text) if !text.trim().is_empty() => Section::all(text),
        _ => template(known),
    };
    for (index, phase) in known.phases.iter().enumerate() {
        let place = section_of(&sections, &phase.name).unwrap_or_else(|| {
            let title = heading(&phase.name);
            let mut before = known.phases[..index].iter().rev();
            let after = before.find_map(|phase| section_of(&sections, &phase.name));
            let state = sections.iter().position(|section| section.is(STATE)).unwrap_or(sections.len());
            let place = after.map_or(state, |after| after + 1);
            sections.insert(place, Section::new(&title, Vec::new()));
            place
        });
        let present = sections[place].bullets();
        let missing = phase.decisions.iter().filter(|decision| !present.contains(*decision));
        let lines: Vec<String> = missing.map(|decision| format!("- {decision}")).collect();
        if phase.is_decided && lines.is_empty() && sections[place].is_empty() {
            sections[place].append(vec![NOTHING.to_owned()]);
        }
        sections[place].append(lines);
    }
    let state = Section::new(STATE, known.state.clone());
    match sections.iter().position(|section| section.is(STATE)) {
        Some(place) => sections[place] = state,
        None => sections.push(state),
    }
    sections.iter().map(Section::to_text).collect()
}

/// The decisions under a phase's heading, without placeholders.
pub(super) fn bullets(text: &str, phase: &str) -> Vec<String> {
    let sections = Section::all(text);
    section_of(&sections, phase).map(|place| sections[place].bullets()).unwrap_or_default()
}

/// Turns the file of a replaced plan into that of its successor: replaces Steadfast's own text and keeps the rest.
pub(super) fn carry_over(text: &str, before: &KnownSpec, after: &KnownSpec) -> String {
    let mut sections = Section::all(text);
    for (old, new) in template(before).iter().zip(template(after)) {
        if let Some(section) = sections.iter_mut().find(|section| *section == old) {
            *section = new;
        }
    }
    sections.iter().map(Section::to_text).collect()
}

fn template(known: &KnownSpec) -> Vec<Section> {
    let list = |lines: &[String], none: &str| match lines {
        [] => vec![none.to_owned()],
        lines => lines.iter().map(|line| format!("- {line}")).collect(),
    };
    vec![
        Section { title: None, lines: vec![format!("# Execution Context: {}", known.feature), String::new()] },
        Section::new("Objective", vec![known.objective.clone()]),
        Section::new("Key Constraints", list(&known.constraints, "None stated.")),
        Section::new("Success Criteria", list(&known.criteria, "Every task's check passes.")),
    ]
}

/// A heading of the second level with the lines below it.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    /// `None` for the lines before the first heading.
    title: Option<String>,
    lines: Vec<String>,
}

impl Section {
    fn new(title: &str, mut lines: Vec<String>) -> Self {
        lines.push(String::new());
        Self { title: Some(title.to_owned()), lines }
    }

    fn all(text: &str) -> Vec<Self> {
        let mut sections = vec![Self { title: None, lines: Vec::new() }];
        for line in text.lines() {
            match line.strip_prefix("## ") {
                Some(title) => sections.push(Self { title: Some(title.trim().to_owned()), lines: Vec::new() }),
                None => {
                    if let Some(last) = sections.last_mut() {
                        last.lines.push(line.to_owned());
                    }
                }
            }
        }
        sections
    }

    fn is(&self, title: &str) -> bool {
        self.title.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(title))
    }

    fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.trim().is_empty())
    }

    fn bullets(&self) -> Vec<String> {
        let bullet = |line: &String| {
            let text = line.trim_start().strip_prefix(['-', '*'])?.strip_prefix(' ')?.trim();
            (!text.is_empty() && !text.starts_with('[')).then(|| text.to_owned())
        };
        self.lines.iter().filter_map(bullet).collect()
    }

    /// Adds lines after the last non-empty one, and removes placeholders.
    fn append(&mut self, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        self.lines.retain(|line| !line.trim_start().starts_with("- ["));
        let end = self.lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        self.lines.splice(end..end, lines);
    }

    fn to_text(&self) -> String {
        let title = self.title.iter().map(|title| format!("## {title}\n"));
        title.chain(self.lines.iter().map(|line| format!("{line}\n"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_phase_has_its_name_after_the_word_and_an_old_heading_is_known() {
        assert_eq!(heading("Phase 1: Letters"), "Phase 1 Decisions: Letters");
        assert_eq!(heading("Letters"), "Letters Decisions");
        let phase = KnownPhase { name: "Phase 1: Letters".into(), decisions: vec!["new: so".into()], is_decided: true };
        let old = "## Phase 1: Letters Decisions\n- old: so\n";
        let text = render(Some(old), &KnownSpec { phases: vec![phase], ..KnownSpec::default() });
        assert_eq!(bullets(&text, "Phase 1: Letters"), ["old: so", "new: so"]);
        assert_eq!(text.matches("Decisions").count(), 1, "{text}");
    }

    fn known() -> KnownSpec {
        let phase = |name: &str, decisions: &[&str]| KnownPhase {
            name: name.into(),
            decisions: decisions.iter().map(|line| (*line).to_owned()).collect(),
            is_decided: false,
        };
        KnownSpec {
            feature: "Login".into(),
            objective: "People can log in.".into(),
            constraints: vec!["The schema stays.".into()],
            criteria: Vec::new(),
            phases: vec![phase("Phase 0", &["Argon2: it is kept"]), phase("Phase 1", &[])],
            state: vec!["Next: 0.1".into()],
        }
    }

    #[test]
    fn a_new_file_has_every_section() {
        insta::assert_snapshot!(render(None, &known()));
    }

    #[test]
    fn what_somebody_wrote_stays_and_the_state_is_replaced() {
        let mine = "# Mine\nwords\n## Phase 0 Decisions\n- Mine: because\n\n## Notes\nkeep me\n## Current State\nold\n";
        insta::assert_snapshot!(render(Some(mine), &known()));
    }

    #[test]
    fn what_somebody_wrote_is_carried_over_and_what_we_wrote_is_written_anew() {
        let before =
            render(None, &known()).replace("- The schema stays.", "- The schema stays, said Ann.") + "## Notes\nmine\n";
        let after = KnownSpec {
            feature: "Sign in".into(),
            objective: "People can sign in.".into(),
            constraints: vec!["The table stays.".into()],
            ..known()
        };
        let text = carry_over(&before, &known(), &after);
        assert!(text.starts_with("# Execution Context: Sign in\n\n## Objective\nPeople can sign in.\n\n"), "{text}");
        assert!(text.contains("## Key Constraints\n- The schema stays, said Ann.\n\n"), "{text}");
        assert!(text.ends_with("## Notes\nmine\n"), "{text}");
    }

    #[test]
    fn a_phase_that_was_begun_without_a_decision_says_so_until_there_is_one() {
        let phase = |decisions: &[&str]| KnownSpec {
            phases: vec![KnownPhase {
                name: "Phase 1".into(),
                decisions: decisions.iter().map(|line| (*line).to_owned()).collect(),
                is_decided: true,
            }],
            ..KnownSpec::default()
        };
        let text = render(None, &phase(&[]));
        assert!(text.contains("## Phase 1 Decisions\n- [nothing decided]\n"), "{text}");
        assert!(bullets(&text, "Phase 1").is_empty() && render(Some(&text), &phase(&[])) == text);
        let later = render(Some(&text), &phase(&["tabs: they are kept"]));
        assert!(later.contains("## Phase 1 Decisions\n- tabs: they are kept\n"), "{later}");
        assert!(!later.contains("nothing decided"), "{later}");
    }

    #[test]
    fn rendering_twice_changes_nothing() {
        for present in [
            None,
            Some("# Mine\n## Current State\nold"),
            Some("no heading at all"),
            Some("## phase 0 decisions\n- [Decision]: [Rationale]"),
        ] {
            let once = render(present, &known());
            assert_eq!(render(Some(&once), &known()), once);
        }
    }

    #[test]
    fn a_placeholder_is_no_decision() {
        let text = "## Phase 0 Decisions\n- [Decision]: [Rationale]\n- \n---\n**Bold** words\n* Real: because\n";
        assert_eq!(bullets(text, "Phase 0"), ["Real: because"]);
        assert!(bullets(text, "Phase 1").is_empty());
    }
}
