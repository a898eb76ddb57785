//! The pages of a loop for people, in `.steadfast/loops/<id>/`. Steadfast never reads them back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::{Loop, LoopId, Review, Task};
use steadfast_plan::{loop_progress, render_shape, workflow_state};
use steadfast_redact::redact_document;

use crate::file;

const FOLDER: &str = ".steadfast";

pub fn folder(root: &Path, id: &LoopId) -> PathBuf {
    root.join(FOLDER).join("loops").join(id.as_str())
}

pub(super) fn write(root: &Path, looped: &Loop, reviews: &[Review], tasks: &[Task]) -> io::Result<()> {
    let folder = folder(root, &looped.id);
    fs::create_dir_all(&folder)?;
    file::ignore_all(&root.join(FOLDER))?;
    let put = |name: &str, text: String| file::replace(&folder.join(name), redact_document(&text).as_bytes());
    put("workflow-state.json", workflow_state(looped, reviews))?;
    if let Some(shape) = &looped.shape {
        put("SHAPE.md", render_shape(&looped.request, shape))?;
    }
    if !tasks.is_empty() {
        put("PROGRESS.md", loop_progress(looped, reviews, tasks))?;
    }
    Ok(())
}
