use proptest::prelude::*;

use super::*;

/// Computes the ready tasks from the dependencies of each task.
fn looked_up(ledger: &Ledger, plan: &PlanId) -> Vec<TaskId> {
    let tasks = ledger.tasks(plan).unwrap();
    let is_done = |id: &TaskId| tasks.iter().any(|task| task.id == *id && task.status == Status::Done);
    let is_ready =
        |task: &&steadfast_model::Task| task.status == Status::Pending && task.blocked_by.iter().all(is_done);
    tasks.iter().filter(is_ready).map(|task| task.id.clone()).collect()
}

/// Counts the tasks with each status.
fn counted(ledger: &Ledger, plan: &PlanId) -> steadfast_model::Counts {
    let tasks = ledger.tasks(plan).unwrap();
    let with = |status: Status| u32::try_from(tasks.iter().filter(|task| task.status == status).count()).unwrap();
    steadfast_model::Counts {
        pending: with(Status::Pending),
        in_progress: with(Status::InProgress),
        done: with(Status::Done),
        blocked: with(Status::Blocked),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The count of what a task waits for is kept by every way a status changes.
    #[test]
    fn what_is_ready_is_what_waits_for_nothing(
        edges in prop::collection::vec((1_u8..12, 0_u8..12), 0..30),
        moves in prop::collection::vec((0_u8..12, 0_usize..4), 0..40),
    ) {
        let dir = dir();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        let plan = list(&mut ledger);
        for number in 0..12_u8 {
            let before: Vec<String> =
                edges.iter().filter(|(task, cause)| *task == number && cause < task).map(|(_, cause)| cause.to_string()).collect();
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            ledger.add_task(&plan, after(&number.to_string(), &before), at(1)).unwrap();
        }
        for (task, status) in moves {
            // Some moves are not legal, and change nothing.
            let _ = ledger.set_status(&plan, &id(&task.to_string()), to(Status::ALL[status]));
            let ready: Vec<TaskId> = ledger.ready(&plan).unwrap().into_iter().map(|task| task.id).collect();
            prop_assert_eq!(ready, looked_up(&ledger, &plan));
            prop_assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().counts, counted(&ledger, &plan));
        }
    }
}
