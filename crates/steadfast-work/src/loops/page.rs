//! A loop on disk, for people: `.steadfast/loops/<id>/`. Never read back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::{Loop, LoopId, Review, Task};
use steadfast_plan::{loop_progress, render_shape, workflow_state};

use crate::file;

const FOLDER: &str = ".steadfast";

pub fn folder(root: &Path, id: &LoopId) -> PathBuf {
    root.join(FOLDER).join("loops").join(id.as_str())
}

pub(super) fn write(root: &Path, looped: &Loop, reviews: &[Review], tasks: &[Task]) -> io::Result<()> {
    let folder = folder(root, &looped.id);
    fs::create_dir_all(&folder)?;
    // Rendered files are nobody's commit.
    let ignore = root.join(FOLDER).join(".gitignore");
    if !ignore.exists() {
        fs::write(ignore, "*\n")?;
    }
    file::replace(&folder.join("workflow-state.json"), workflow_state(looped, reviews).as_bytes())?;
    if let Some(shape) = &looped.shape {
        file::replace(&folder.join("SHAPE.md"), render_shape(&looped.request, shape).as_bytes())?;
    }
    if !tasks.is_empty() {
        file::replace(&folder.join("PROGRESS.md"), loop_progress(looped, tasks).as_bytes())?;
    }
    Ok(())
}
