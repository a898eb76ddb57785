//! `cargo xtask picture`: the README's picture, which is what the demo prints up to the end of its second refusal.

use std::fs;
use std::process::Command;

use anstyle_svg::{Term, WIN10_CONSOLE};

use crate::Result;
use crate::process::{build, root};

/// The heading of the first refusal that the picture leaves out.
const AFTER: &str = "3/3 ";

/// The most lines of the picture.
const LINES: usize = 30;

/// The picture's file.
pub(crate) const FILE: &str = "docs/demo.svg";

pub(crate) fn write() -> Result<()> {
    Ok(fs::write(root().join(FILE), picture()?)?)
}

pub(crate) fn picture() -> Result<String> {
    let output = Command::new(build("dev")?).args(["demo", "--fast"]).env("CLICOLOR_FORCE", "1").output()?;
    if !output.status.success() {
        return Err(format!("the demo failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> = text.lines().take_while(|line| !line.contains(AFTER)).collect();
    if lines.len() > LINES || lines.len() == text.lines().count() {
        return Err(format!("the picture would have {} lines instead of at most {LINES}", lines.len()).into());
    }
    Ok(drawn(lines.join("\n").trim_end()))
}

/// Draws the text of a terminal, with colours that are legible on its dark ground.
fn drawn(text: &str) -> String {
    let svg = Term::new().palette(WIN10_CONSOLE).min_width_px(690).render_svg(text);
    svg.replace(".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.7; }") + "\n"
}
