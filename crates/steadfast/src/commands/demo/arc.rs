//! The last act: an unattended run of a spec. Agents work in worktrees, experts review, a gate opens.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use anstyle::Style;

use super::sandbox::{Sandbox, temporary};
use super::scene::Scene;
use super::timeline::Timeline;
use super::{End, Host};
use crate::environment;
use crate::error::CommandError;

const SPEC: &str = include_str!("project/words.md");

pub(super) fn play(timeline: &mut Timeline, sandbox: &Sandbox) -> Result<(), End> {
    timeline.paragraph(
        Style::new(),
        "Overnight, without you: `steadfast run --loop WORDS.md` checks that the spec is clear enough, runs agents in separate \
         worktrees, checks and merges their work, asks experts to review, and ends with a gate. The agents here are simulated.",
    )?;
    timeline.blank()?;
    let folder = sandbox.root.join("words");
    let failed = |error: std::io::Error| temporary(&format!("cannot write to the temporary repository: {error}"));
    fs::create_dir(&folder).and_then(|()| fs::write(folder.join("WORDS.md"), SPEC)).map_err(failed)?;
    let call = |program: &std::path::Path, arguments: &[&str]| {
        let mut command = sandbox.command(program);
        command.current_dir(&folder).args(arguments);
        command
    };
    let git = std::path::Path::new("git");
    let (name, email) = ("user.name=demo", "user.email=demo@localhost");
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "."],
        &["-c", name, "-c", email, "commit", "--quiet", "--message", "The spec"],
    ] {
        call(git, arguments).output().map_err(failed)?;
    }
    steadfast_store::Place { state: folder.join(".git/steadfast"), root: folder.clone() }
        .create()
        .map_err(|error| temporary(&format!("cannot set up the temporary repository: {error}")))?;
    let mut run = call(&sandbox.steadfast, &["run", "--loop", "WORDS.md", "--host", Host::Sim.as_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut last = String::new();
    for line in run.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines()).map_while(Result::ok) {
        // The timeline prints its own times.
        let text = match line.split_once(' ') {
            Some((time, rest)) if time.len() == 8 && time.matches(':').count() == 2 => rest.to_owned(),
            _ => line,
        };
        if !text.trim().is_empty() {
            timeline.show(environment::now(), &Scene::RunLine { text: text.clone() })?;
            last = text;
        }
    }
    let mut card = String::new();
    if let Some(mut stdout) = run.stdout.take() {
        stdout.read_to_string(&mut card).map_err(failed)?;
    }
    let status = run.wait().map_err(failed)?;
    if !status.success() || !card.contains("<loop-complete>") {
        let said = format!("the loop did not complete: {last}");
        return Err(CommandError::failure(said).hint("`steadfast doctor` checks this machine").into());
    }
    timeline.blank()?;
    timeline.verbatim(card.trim_end())?;
    timeline.blank()?;
    Ok(())
}
