//! Reads the task list of a host from the calls of its tools. Fields of an unexpected type count as absent.

use serde::Deserialize;
use serde_json::value::RawValue;
use steadfast_model::{HostList, ItemTold, ListCall, ListEdit, ListItem, ListStatus, Listed, TaskId};

use super::check::check_in;
use super::cut;
use super::input::{Input, read, text};

/// The longest subject, in bytes; [`NAME`] limits ids and owners.
const SUBJECT: usize = 200;
const NAME: usize = 64;

const WAITS: usize = 32;

/// An item, with the field names of all hosts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, alias = "taskId", alias = "task_id")]
    id: Option<&'a RawValue>,
    #[serde(borrow, alias = "content", alias = "step")]
    subject: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    owner: Option<&'a RawValue>,
    #[serde(borrow, rename = "blockedBy", alias = "addBlockedBy")]
    blocked_by: Option<&'a RawValue>,
}

/// A whole list, with the field names of all hosts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole<'a> {
    #[serde(borrow, alias = "plan", alias = "tasks")]
    todos: Option<&'a RawValue>,
}

/// Returns what a call of this tool does to the list.
pub(crate) fn list_call(tool: &str, input: &str) -> ListCall {
    if !input.starts_with('{') {
        return ListCall::Look;
    }
    match tool {
        "TodoWrite" | "update_plan" => whole_list(input).unwrap_or_default(),
        "TaskCreate" => {
            item(input).and_then(|item| item.listed()).map_or(ListCall::Look, |item| ListCall::Add { id: None, item })
        }
        "TaskUpdate" => item(input).and_then(|item| item.edit()).map_or(ListCall::Look, ListCall::Edit),
        _ => ListCall::Look,
    }
}

/// Completes a call from its result: the id of a new item, or the requested list. A failed call did nothing.
pub(crate) fn with_response(call: ListCall, response: Option<&RawValue>) -> ListCall {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Response<'a> {
        success: Option<bool>,
        #[serde(borrow)]
        task: Option<Item<'a>>,
        #[serde(borrow)]
        tasks: Option<&'a RawValue>,
    }
    let response = match response.map(RawValue::get) {
        Some(raw) if raw.starts_with('{') => serde_json::from_str::<Response<'_>>(raw).unwrap_or_default(),
        _ => Response::default(),
    };
    if response.success == Some(false) {
        return ListCall::Look;
    }
    match call {
        ListCall::Add { item, .. } => ListCall::Add { id: response.task.and_then(|task| task.task_id()), item },
        ListCall::Look => match response.tasks {
            Some(tasks) => Input::list::<Item<'_>>(Some(tasks)).map_or(ListCall::Look, |items| {
                let beyond = count_beyond(&items);
                ListCall::Told { items: items.iter().take(HostList::FOLLOWED).filter_map(Item::seen).collect(), beyond }
            }),
            None => ListCall::Look,
        },
        other => other,
    }
}

/// Reads one file of a list that the host stores on the disk.
pub(crate) fn kept_item(content: &str) -> Option<ListItem> {
    item(content)?.seen()
}

/// Returns the item that the host creates or completes. `None` if its id or subject is missing.
pub(crate) fn reported_item(input: &Input<'_>) -> Option<ItemTold> {
    let item = Item {
        id: input.task_id,
        subject: input.task_subject,
        description: input.task_description,
        owner: input.teammate_name,
        ..Item::default()
    };
    let team = text(input.team_name).filter(|team| !team.is_empty()).map(|team| cut(&team, NAME));
    Some(ItemTold { item: item.seen()?, team })
}

/// The number of items beyond the limit of followed ones.
fn count_beyond(items: &[Item<'_>]) -> u32 {
    u32::try_from(items.len().saturating_sub(HostList::FOLLOWED)).unwrap_or(u32::MAX)
}

fn whole_list(input: &str) -> Option<ListCall> {
    let whole: Whole<'_> = serde_json::from_str(input).ok()?;
    let items = Input::list::<Item<'_>>(whole.todos)?;
    let beyond = count_beyond(&items);
    Some(ListCall::Write { items: shorten(items.iter().filter_map(Item::listed).collect()), beyond })
}

/// Shortens a list that is too long. Completed items with a check come first, because the claim may be wrong; then open
/// items. The order of the list is kept.
fn shorten(items: Vec<Listed>) -> Vec<Listed> {
    if items.len() <= HostList::FOLLOWED {
        return items;
    }
    let need = |item: &Listed| match (item.status, &item.check) {
        (ListStatus::Completed, Some(_)) => 0,
        (ListStatus::Pending | ListStatus::InProgress, _) => 1,
        (ListStatus::Completed, None) => 2,
    };
    let mut chosen: Vec<(usize, Listed)> = items.into_iter().enumerate().collect();
    chosen.sort_by_key(|(_, item)| need(item));
    chosen.truncate(HostList::FOLLOWED);
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, item)| item).collect()
}

fn item(input: &str) -> Option<Item<'_>> {
    if input.trim_start().starts_with('{') { serde_json::from_str(input).ok() } else { None }
}

impl Item<'_> {
    fn listed(&self) -> Option<Listed> {
        let subject = text(self.subject).or_else(|| text(self.description))?;
        Some(Listed { check: self.check(&subject), status: self.status().unwrap_or_default(), subject: line(&subject) })
    }

    fn edit(&self) -> Option<ListEdit> {
        let subject = text(self.subject);
        let status = text(self.status);
        Some(ListEdit {
            id: self.task_id()?,
            status: status.as_deref().and_then(ListStatus::parse),
            removed: status.as_deref() == Some("deleted"),
            check: self.check(subject.as_deref().unwrap_or_default()),
            subject: subject.as_deref().map(line),
            owner: text(self.owner).map(|owner| cut(&owner, NAME)),
            blocked_by: self.dependencies(),
        })
    }

    fn seen(&self) -> Option<ListItem> {
        let subject = text(self.subject)?;
        Some(ListItem {
            id: self.task_id()?,
            check: self.check(&subject),
            subject: line(&subject),
            status: self.status().unwrap_or_default(),
            blocked_by: self.dependencies(),
            owner: text(self.owner).filter(|owner| !owner.is_empty()).map(|owner| cut(&owner, NAME)),
            proven: false,
        })
    }

    fn task_id(&self) -> Option<TaskId> {
        let id = text(self.id)?;
        (!id.is_empty() && id.len() <= NAME).then(|| TaskId::new(id))
    }

    fn status(&self) -> Option<ListStatus> {
        text(self.status).as_deref().and_then(ListStatus::parse)
    }

    fn dependencies(&self) -> Vec<TaskId> {
        let ids: Vec<&RawValue> = read(self.blocked_by).unwrap_or_default();
        ids.into_iter().take(WAITS).filter_map(|id| text(Some(id))).map(|id| TaskId::new(cut(&id, NAME))).collect()
    }

    /// Returns the check in the description, else the one in the subject.
    fn check(&self, subject: &str) -> Option<String> {
        text(self.description).as_deref().and_then(check_in).or_else(|| check_in(subject))
    }
}

fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(SUBJECT));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SUBJECT {
            break;
        }
    }
    cut(&line, SUBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(tool: &str, input: &serde_json::Value) -> ListCall {
        list_call(tool, &input.to_string())
    }

    fn listed(subject: &str, status: ListStatus) -> Listed {
        Listed { subject: subject.into(), status, check: None }
    }

    #[test]
    fn a_list_that_is_written_whole_is_read_on_every_host() {
        let wanted = ListCall::Write {
            items: vec![listed("Read the code", ListStatus::Completed), listed("Mend it", ListStatus::InProgress)],
            beyond: 0,
        };
        let todos = serde_json::json!({"todos": [
            {"content": "Read the code", "status": "completed", "activeForm": "Reading"},
            {"content": "Mend\n it", "status": "in_progress"},
        ]});
        assert_eq!(look("TodoWrite", &todos), wanted);
        let plan = serde_json::json!({"explanation": "why", "plan": [
            {"step": "Read the code", "status": "completed"}, {"step": "Mend it", "status": "in_progress"},
        ]});
        assert_eq!(look("update_plan", &plan), wanted);
    }

    #[test]
    fn a_new_item_has_its_check_from_its_text_and_its_id_from_the_answer() {
        let input = serde_json::json!({"subject": "Add import", "description": "Add it. Verify: grep -q x a.ts"});
        let item = Listed { check: Some("grep -q x a.ts".into()), ..listed("Add import", ListStatus::Pending) };
        let call = look("TaskCreate", &input);
        assert_eq!(call, ListCall::Add { id: None, item: item.clone() });
        let response =
            serde_json::value::to_raw_value(&serde_json::json!({"task": {"id": "7", "subject": "x"}})).unwrap();
        assert_eq!(with_response(call, Some(&response)), ListCall::Add { id: Some(TaskId::new("7")), item });
    }

    #[test]
    fn an_item_is_changed_under_its_id() {
        let input = serde_json::json!({"taskId": 3, "status": "completed", "owner": "sam", "addBlockedBy": ["1", 2]});
        let edit = ListEdit {
            status: Some(ListStatus::Completed),
            owner: Some("sam".into()),
            blocked_by: vec![TaskId::new("1"), TaskId::new("2")],
            ..ListEdit::of(TaskId::new("3"))
        };
        assert_eq!(look("TaskUpdate", &input), ListCall::Edit(edit));
        let gone = ListEdit { removed: true, ..ListEdit::of(TaskId::new("3")) };
        assert_eq!(look("TaskUpdate", &serde_json::json!({"taskId": "3", "status": "deleted"})), ListCall::Edit(gone));
    }

    #[test]
    fn a_call_that_the_host_refused_did_nothing() {
        let failed = serde_json::value::to_raw_value(&serde_json::json!({"success": false, "taskId": "9"})).unwrap();
        let edit = ListCall::Edit(ListEdit::of(TaskId::new("9")));
        assert_eq!(with_response(edit, Some(&failed)), ListCall::Look);
    }

    #[test]
    fn rubbish_is_no_list_and_does_no_harm() {
        for input in
            ["", "[]", "7", "{", "{}", r#"{"todos":7}"#, r#"{"todos":{"a":1}}"#, r#"{"taskId":[]}"#, r#"{"plan":"x"}"#]
        {
            for tool in ["TodoWrite", "update_plan", "TaskCreate", "TaskUpdate", "TaskList"] {
                assert_eq!(list_call(tool, input), ListCall::Look, "{tool} {input}");
            }
        }
        let mixed = serde_json::json!({"todos": [7, null, {"content": 4}, {"status": "completed"}, {"content": "a", "status": []}]});
        let items = vec![listed("4", ListStatus::Pending), listed("a", ListStatus::Pending)];
        assert_eq!(look("TodoWrite", &mixed), ListCall::Write { items, beyond: 0 });
    }

    #[test]
    fn of_a_long_list_the_first_items_are_followed_and_the_rest_is_counted() {
        let todos: Vec<_> =
            (0..2_000).map(|n| serde_json::json!({"content": format!("{n} {}", "é".repeat(500))})).collect();
        let ListCall::Write { items, beyond } = look("TodoWrite", &serde_json::json!({"todos": todos})) else {
            panic!()
        };
        assert_eq!((items.len(), beyond), (HostList::FOLLOWED, 1_500));
        assert!(items.iter().all(|item| item.subject.len() <= SUBJECT));
    }

    #[test]
    fn of_a_long_list_what_may_wrongly_be_called_completed_is_seen_wherever_it_stands() {
        let todo = |n: usize| match n {
            ..400 => serde_json::json!({"content": format!("done {n}"), "status": "completed"}),
            1_999 => serde_json::json!({"content": "last. Verify: `false`", "status": "completed"}),
            _ => serde_json::json!({"content": format!("open {n}")}),
        };
        let todos: Vec<_> = (0..2_000).map(todo).collect();
        let ListCall::Write { items, beyond } = look("TodoWrite", &serde_json::json!({"todos": todos})) else {
            panic!()
        };
        assert_eq!((items.len(), beyond), (HostList::FOLLOWED, 1_500));
        assert_eq!(items[0], listed("open 400", ListStatus::Pending));
        assert_eq!(items.last().and_then(|item| item.check.as_deref()), Some("false"));
    }
}
