use steadfast_model::{Action, Event, EventKind, Outcome};

/// Returns the path relative to a folder; `None` for a path outside of it.
fn relative<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    match path.strip_prefix(root) {
        Some(rest) => rest.strip_prefix('/').filter(|rest| !rest.is_empty()),
        None => (!path.starts_with(['/', '~']) && !path.is_empty()).then_some(path),
    }
}

/// Returns the paths inside a folder, relative to it.
pub(crate) fn inside<'p>(paths: &'p [String], root: &str) -> impl Iterator<Item = &'p str> {
    paths.iter().filter_map(move |path| relative(path, root))
}

/// Returns the folder of a path, empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the files that a finished call wrote.
pub(crate) fn written(event: &Event) -> &[String] {
    match &event.kind {
        EventKind::PostTool(result) if result.outcome == Outcome::Ok => match &result.call.action {
            Action::Write { paths } => paths,
            _ => &[],
        },
        _ => &[],
    }
}

/// Returns the files that a finished call read.
pub(crate) fn read(event: &Event) -> &[String] {
    match &event.kind {
        EventKind::PostTool(result) if result.outcome == Outcome::Ok => match &result.call.action {
            Action::Read { paths } => paths,
            _ => &[],
        },
        _ => &[],
    }
}
