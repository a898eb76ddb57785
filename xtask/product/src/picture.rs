//! `cargo xtask picture`: draws the README's picture from the output of the demo.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::process::{build, root};

pub(crate) fn picture() -> Result<()> {
    let output = Command::new(build("release")?).args(["demo", "--fast"]).env("CLICOLOR_FORCE", "1").output()?;
    if !output.status.success() {
        return Err(format!("the demo failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let svg = anstyle_svg::Term::new().min_width_px(900).render_svg(&text);
    let file = root().join("docs/demo.svg");
    fs::create_dir_all(root().join("docs"))?;
    fs::write(&file, svg)?;
    println!("wrote {}", file.display());
    Ok(())
}
