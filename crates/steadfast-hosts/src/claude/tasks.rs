//! Reads the task lists of Claude Code: `~/.claude/tasks/<list>/<id>.json`. Never writes them: a writer needs the lock
//! of Claude Code's own protocol. A file that is half-written now is complete a moment later.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_model::{ListItem, SessionId, TaskId};

use crate::shape::{cut, kept_item};

/// The longest file of a task, in bytes; a longer one counts as unreadable. A description has a few lines.
const LONGEST: u64 = 64 << 10;

const FILES: usize = 10_000;

/// The part of a session id in the name of the team that the session leads, in characters.
const TEAM_NAME: usize = 8;

const REPORTED: usize = 3;

/// A task list on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptList {
    /// Sorted by number.
    pub items: Vec<ListItem>,
    pub unread: Vec<TaskId>,
    /// The reasons for the first few unread items.
    pub faults: Vec<String>,
    /// The time was up before the whole list was read.
    pub cut_short: bool,
}

/// Returns the folder of a session's task list: the list named in the settings, else the list of its team, else its
/// own. A session that leads a team does not say so. Its team is named after the first characters of the session id,
/// and the team's list replaces the session's own.
pub fn task_list_folder(claude_dir: &Path, named: Option<&str>, team: Option<&str>, session: &SessionId) -> PathBuf {
    let spelled = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let folder = |name: &str| claude_dir.join("tasks").join(name.chars().map(spelled).collect::<String>());
    if let Some(name) = [named, team].into_iter().flatten().find(|name| !name.is_empty()) {
        return folder(name);
    }
    let prefix: String = session.as_str().chars().take(TEAM_NAME).collect();
    let led = folder(&format!("session-{prefix}"));
    if led.is_dir() { led } else { folder(session.as_str()) }
}

/// Reads a list within the given time. `None`: there is no list.
pub fn read_task_list(folder: &Path, within: Duration) -> Option<KeptList> {
    let started = Instant::now();
    let mut names: Vec<(u64, String)> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let id = name.strip_suffix(".json").filter(|id| !id.is_empty() && !id.starts_with('.'))?;
            Some((id.parse().unwrap_or(u64::MAX), id.to_owned()))
        })
        .take(FILES)
        .collect();
    names.sort();
    let mut list = KeptList::default();
    for (_, id) in names {
        if started.elapsed() > within {
            list.cut_short = true;
            break;
        }
        match read(&folder.join(format!("{id}.json")), &id) {
            Ok(item) => list.items.extend(item),
            Err(why) => {
                if list.faults.len() < REPORTED {
                    list.faults.push(format!("`{}.json`: {why}", cut(&id, 64)));
                }
                list.unread.push(TaskId::new(id));
            }
        }
    }
    Some(list)
}

/// Reads an item. `None`: it was deleted meanwhile.
fn read(path: &Path, id: &str) -> Result<Option<ListItem>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut content = String::new();
    match file.take(LONGEST + 1).read_to_string(&mut content) {
        Ok(length) if length as u64 > LONGEST => return Err(format!("longer than {LONGEST} bytes")),
        Ok(_) => {}
        Err(error) => return Err(error.to_string()),
    }
    match kept_item(&content) {
        Some(item) if item.id.as_str() == id => Ok(Some(item)),
        Some(_) => Err("its `id` differs from its file name".to_owned()),
        None => Err("not a task".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use steadfast_model::ListStatus;

    use super::*;

    use steadfast_testkit::PATIENCE as LONG;

    fn task(id: usize, status: &str) -> String {
        format!(
            "{{\n  \"id\": \"{id}\",\n  \"subject\": \"piece {id}\",\n  \"description\": \"Verify: test -f {id}.txt\",\n  \
             \"status\": \"{status}\",\n  \"blocks\": [],\n  \"blockedBy\": [\"1\"]\n}}"
        )
    }

    fn item(id: usize, status: ListStatus) -> ListItem {
        ListItem {
            status,
            blocked_by: vec![TaskId::new("1")],
            check: Some(format!("test -f {id}.txt")),
            ..ListItem::new(TaskId::new(id.to_string()), format!("piece {id}"))
        }
    }

    #[test]
    fn a_list_is_the_one_that_is_named_else_the_teams_else_the_sessions_own() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("f6e6a1b2-1");
        let folder = |named, team| task_list_folder(dir.path(), named, team, &session);
        assert_eq!(folder(Some("my loop/../x"), Some("team")), dir.path().join("tasks/my-loop----x"));
        assert_eq!(folder(None, Some("team")), dir.path().join("tasks/team"));
        assert_eq!(folder(Some(""), None), dir.path().join("tasks/f6e6a1b2-1"));
        fs::create_dir_all(dir.path().join("tasks/session-f6e6a1b2")).unwrap();
        assert_eq!(folder(None, None), dir.path().join("tasks/session-f6e6a1b2"));
        assert_eq!(folder(None, Some("team")), dir.path().join("tasks/team"));
    }

    #[test]
    fn a_list_is_read_in_the_order_people_count() {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("10.json", task(10, "pending")),
            ("2.json", task(2, "in_progress")),
            ("1.json", task(1, "completed")),
            (".lock", String::new()),
            (".highwatermark", "10".into()),
            ("notes.txt", "no task".into()),
        ] {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let items =
            vec![item(1, ListStatus::Completed), item(2, ListStatus::InProgress), item(10, ListStatus::Pending)];
        assert_eq!(read_task_list(dir.path(), LONG), Some(KeptList { items, ..KeptList::default() }));
        assert_eq!(read_task_list(&dir.path().join("none"), LONG), None);
    }

    #[test]
    fn rubbish_and_half_written_files_are_told_and_the_rest_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let half = task(3, "pending");
        for (name, content) in [
            ("1.json", task(1, "pending").into_bytes()),
            ("2.json", Vec::new()),
            ("3.json", half.as_bytes()[..half.len() / 2].to_vec()),
            ("4.json", b"\xff\xfe\x00".to_vec()),
            ("5.json", vec![b'['; 100_000]),
            ("6.json", task(7, "pending").into_bytes()),
        ] {
            fs::write(dir.path().join(name), content).unwrap();
        }
        fs::create_dir(dir.path().join("8.json")).unwrap();
        let list = read_task_list(dir.path(), LONG).unwrap();
        assert_eq!(list.items, [item(1, ListStatus::Pending)]);
        assert_eq!(list.unread, ["2", "3", "4", "5", "6", "8"].map(TaskId::new));
        assert_eq!(list.faults.len(), REPORTED);
        assert_eq!(list.faults[0], "`2.json`: not a task");
    }

    #[test]
    fn a_list_that_takes_too_long_is_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("1.json"), task(1, "pending")).unwrap();
        assert!(read_task_list(dir.path(), Duration::ZERO).unwrap().cut_short);
    }
}
