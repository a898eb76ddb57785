use steadfast_model::{Action, Event, EventKind, Outcome};

/// A path relative to a folder; `None` outside of it.
fn relative<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    match path.strip_prefix(root) {
        Some(rest) => rest.strip_prefix('/').filter(|rest| !rest.is_empty()),
        None => (!path.starts_with(['/', '~']) && !path.is_empty()).then_some(path),
    }
}

/// Those of the paths that are in a folder, relative to it.
pub(crate) fn inside<'p>(paths: &'p [String], root: &str) -> impl Iterator<Item = &'p str> {
    paths.iter().filter_map(move |path| relative(path, root))
}

/// The folder of a path, empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The files that a call wrote, once it is back.
pub(crate) fn written(event: &Event) -> &[String] {
    match &event.kind {
        EventKind::PostTool(result) if result.outcome == Outcome::Ok => match &result.call.action {
            Action::Write { paths } => paths,
            _ => &[],
        },
        _ => &[],
    }
}

/// The files that a call read, once it is back.
pub(crate) fn read(event: &Event) -> &[String] {
    match &event.kind {
        EventKind::PostTool(result) if result.outcome == Outcome::Ok => match &result.call.action {
            Action::Read { paths } => paths,
            _ => &[],
        },
        _ => &[],
    }
}
