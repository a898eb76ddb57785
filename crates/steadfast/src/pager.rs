//! Shows a long text at a terminal page by page, as git does.

use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_text::wrap;

use crate::environment;
use crate::error::CommandError;
use crate::output::{put_laid_out, tell, visible};
use crate::terminal::{self, painted};

/// Exit codes of a shell that cannot start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows a text, with its styles, with `$PAGER`, else with `less`. Prints it where standard output is no terminal, and where neither works.
pub(crate) fn show(text: &str) -> Result<(), CommandError> {
    let pager = environment::text("PAGER").unwrap_or_else(|| "less".to_owned());
    if !io::stdout().is_terminal() || pager == "cat" || !is_shown_by(&pager, text) {
        put_laid_out(text)?;
    }
    Ok(())
}

/// Prints a text of paragraphs. A human reads one that is longer than the screen page by page.
pub(crate) fn show_long(text: &str) -> Result<(), CommandError> {
    if let (Some(width), Some(rows)) = (terminal::width(), terminal::rows())
        && !environment::current().inside_agent
    {
        let text = wrap(&terminal::quoted(text), width);
        if text.lines().count() >= rows {
            return show(&format!("{text}\n"));
        }
    }
    tell!("{text}")
}

/// Returns false if the pager cannot be started.
fn is_shown_by(pager: &str, text: &str) -> bool {
    // Ctrl-C is for the pager. Once it has ended, the signal does again what it always does.
    let ended = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, Arc::clone(&ended));
    let mut command = steadfast_system::program("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    // Of `less`: quit if it fits the screen, keep colours, leave the text on the screen.
    if environment::text("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let shown = command.spawn().and_then(|mut child| {
        if let Some(mut input) = child.stdin.take() {
            // A reader who quits early closes the pipe.
            let _ = input.write_all(painted(&visible(text.to_owned()), &io::stdout()).as_bytes());
        }
        child.wait()
    });
    ended.store(true, Ordering::Relaxed);
    shown.is_ok_and(|status| !status.code().is_some_and(|code| NOT_STARTED.contains(&code)))
}
