//! The short demo: what Steadfast changed, then three refusals from the recorded session.

use std::io::{IsTerminal, stdin, stdout};
use std::ops::RangeInclusive;

use anstyle::Style;
use steadfast_model::Millis;
use steadfast_text::count;

use super::key::{self, Pressed};
use super::scene::Scene;
use super::timeline::{Layout, Timeline, is_closing, refusal};
use super::{Outcome, script};

/// The scenes of a session with their times.
pub(super) type Recording = [(Millis, Scene)];

/// The scenes of each refusal.
pub(super) type Pages = [RangeInclusive<usize>; 3];

const TITLES: [&str; 3] = ["The agent stops early", "The agent says that its tests pass", "The agent wants to commit"];

/// Prints the summary and the three refusals. At a terminal it waits for a key after each, unless `fast` is set.
pub(super) fn print(
    player: &str,
    outcome: &Outcome,
    recording: &Recording,
    pages: Pages,
    fast: bool,
) -> std::io::Result<()> {
    let mut timeline = Timeline::new(Layout::Short, fast);
    let waits = !fast && stdin().is_terminal() && stdout().is_terminal();
    let bold = Style::new().bold();
    let tasks = count(script::TASKS.len(), "task");
    timeline.paragraph(
        Style::new(),
        &format!("{player}, real Steadfast, {tasks} in a temporary repository. The human said: \"{}\"", script::PROMPT),
    )?;
    timeline.blank()?;
    timeline.row(Style::new(), "Without Steadfast", &outcome.without())?;
    timeline.row(bold, "With Steadfast", &outcome.with())?;
    for ((title, page), number) in TITLES.iter().zip(pages).zip(1..) {
        timeline.blank()?;
        if waits && number > 1 && key::wait("Enter: continue, q: quit")? == Pressed::Quit {
            return Ok(());
        }
        timeline.paragraph(bold, &format!("{number}/{} {title}", TITLES.len()))?;
        for (at, scene) in recording[page].iter().filter(|(_, scene)| is_shown(scene)) {
            timeline.show(*at, scene)?;
        }
    }
    timeline.blank()?;
    timeline.paragraph(
        Style::new(),
        "`steadfast demo --full` shows the whole session: off-task files, a plan without approval, an unattended run. \
         `steadfast init` sets up your repository.",
    )?;
    Ok(())
}

fn is_shown(scene: &Scene) -> bool {
    matches!(
        scene,
        Scene::Said { .. } | Scene::Ran { .. } | Scene::Wrote { .. } | Scene::Tried { .. } | Scene::Refused { .. }
    )
}

/// Finds what the agent said, what Steadfast answered, and what the agent did then.
pub(super) fn pages(recording: &Recording) -> Option<Pages> {
    let scene = |at: usize| recording.get(at).map(|(_, scene)| scene);
    let next = |from: usize, is: &dyn Fn(&Scene) -> bool| (from..recording.len()).find(|at| scene(*at).is_some_and(is));
    let said_before = |at: usize| (0..at).rfind(|at| matches!(scene(*at), Some(Scene::Said { .. })));
    let acts = |scene: &Scene| matches!(scene, Scene::Ran { .. } | Scene::Wrote { .. });
    let refused = |scene: &Scene| matches!(scene, Scene::Refused { .. });
    let failed = |scene: &Scene| matches!(scene, Scene::Ran { output, .. } if refusal(output).is_some());
    let closed = |scene: &Scene| matches!(scene, Scene::Ran { command, output } if is_closing(command) && refusal(output).is_none());

    let early = next(0, &refused)?;
    let after_early = next(early, &acts)?;
    let check = next(after_early, &failed)?;
    let promise = next(check, &refused)?;
    let fixed = next(promise, &closed)?;
    let forbidden = next(fixed, &|scene| matches!(scene, Scene::Tried { .. }))?;
    let after_forbidden = next(forbidden, &|scene| matches!(scene, Scene::Said { .. }))?;
    Some([said_before(early)?..=after_early, said_before(check)?..=fixed, said_before(forbidden)?..=after_forbidden])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(scenes: Vec<Scene>) -> Vec<(Millis, Scene)> {
        scenes.into_iter().map(|scene| (Millis(0), scene)).collect()
    }

    fn said(text: &str) -> Scene {
        Scene::Said { text: text.to_owned() }
    }

    fn ran(command: &str, output: &str) -> Scene {
        Scene::Ran { command: command.to_owned(), output: output.to_owned() }
    }

    fn refused() -> Scene {
        Scene::Refused { reason: "no".to_owned() }
    }

    fn session() -> Vec<Scene> {
        vec![
            said("I begin."),
            ran("steadfast task done 1", "done"),
            said("Let me know."),
            Scene::WantsToStop,
            refused(),
            ran("steadfast task start 2", ""),
            said("It passes."),
            ran("steadfast task done 2", "error: it stays open"),
            said("All is done."),
            Scene::WantsToStop,
            refused(),
            said("It was wrong."),
            Scene::Wrote { path: "show.sh".to_owned(), lines: 1 },
            ran("steadfast task done 2", "done"),
            said("I save it."),
            Scene::Tried { what: "commit".to_owned() },
            refused(),
            said("Then not."),
            ran("steadfast task done 3", "done"),
        ]
    }

    #[test]
    fn a_page_has_the_claim_the_refusal_and_what_the_agent_did_then() {
        assert_eq!(pages(&recording(session())), Some([2..=5, 6..=13, 14..=17]));
    }

    #[test]
    fn a_session_without_one_of_the_refusals_has_no_pages() {
        for missing in [4, 7, 10, 15] {
            let mut scenes = session();
            scenes.remove(missing);
            assert_eq!(pages(&recording(scenes)), None, "without scene {missing}");
        }
    }
}
