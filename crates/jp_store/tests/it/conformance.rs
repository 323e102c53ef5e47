//! The suite: each test is handed an engine, and opens servers on one store of it.

use jp_store::{Grants, NewTask, Pending, Spent, Spills, State, Store, Task, TaskId, Tasks};

use crate::{answers, grants, limits, orphans, owners, requests, spent, spills, tasks};

/// A time that tests start at.
pub(crate) const NOW: u64 = 1_700_000_000_000;

/// A server on a store; it stops when it is dropped.
pub(crate) trait Server: Tasks + Spills + Spent + Grants + Pending {}

impl<T: Tasks + Spills + Spent + Grants + Pending> Server for T {}

/// One store, on which servers are opened.
pub(crate) trait Engine: Sync {
    /// Opens one more server.
    fn open(&self, now: u64) -> Box<dyn Server>;
}

/// A store in a directory of its own.
pub(crate) struct Sqlite(tempfile::TempDir);

impl Engine for Sqlite {
    fn open(&self, now: u64) -> Box<dyn Server> {
        Box::new(Store::open(&self.0.path().join("store.sqlite"), now).unwrap())
    }
}

/// A task that is kept for a minute.
pub(crate) const TASK: NewTask<'static> = NewTask {
    tool: "report",
    ttl: 60_000,
    poll_interval: 500,
    message: None,
    most: 100,
};

/// Returns a task that must be there.
pub(crate) fn found(server: &dyn Server, id: &TaskId) -> Task {
    server.get("ann", id, NOW).unwrap().expect("the task")
}

/// Returns where a task of Ann's stands.
pub(crate) fn state(server: &dyn Server, id: &TaskId) -> State {
    found(server, id).state
}

macro_rules! conformance {
    ($engine:ident = $make:expr; $($module:ident: $($test:ident)+;)+) => {
        mod $engine {
            use super::*;
            $($(
                #[test]
                fn $test() {
                    $module::$test(&$make);
                }
            )+)+
        }
    };
}

conformance! {
    sqlite = Sqlite(tempfile::tempdir().unwrap());
    tasks:
        a_task_goes_through_its_states
        a_task_that_has_ended_never_changes_again
        documents_come_back_as_they_were_given
        a_task_is_gone_when_its_time_is_over
        an_owner_has_as_many_tasks_as_the_limit_says
        of_many_ends_at_once_one_is_made
        a_worker_learns_that_its_task_was_cancelled_elsewhere
        what_is_there_is_there_for_the_next_server;
    answers:
        each_answer_reaches_the_worker_once
        the_first_answer_counts_and_what_nobody_asked_for_is_left_out
        new_requests_take_the_place_of_old_ones
        answers_at_once_are_all_kept;
    orphans:
        a_task_whose_server_is_gone_has_failed_and_says_so
        whatever_is_done_with_an_orphan_finds_it_ended
        the_next_server_ends_what_was_left
        a_live_server_keeps_its_tasks;
    limits:
        what_is_too_large_is_refused_by_name
        what_is_no_json_is_refused;
    owners:
        no_owner_reaches_a_task_of_another
        no_owner_reaches_a_result_of_another
        each_owner_spends_nonces_of_its_own
        names_that_look_alike_are_different_owners;
    spills:
        every_range_is_what_was_kept
        results_of_all_sizes_come_back_whole
        quotas_hold_for_one_owner_and_for_all
        what_has_expired_makes_room
        results_expire_and_are_swept;
    grants:
        a_decision_comes_back_as_it_was_made
        a_decision_is_taken_back_once_and_for_all_servers
        what_every_call_would_be_compared_with_is_bounded;
    requests:
        a_permission_is_for_its_own_call_and_good_once
        whoever_decides_later_learns_what_was_decided
        nothing_is_decided_or_spent_after_its_time
        what_is_taken_back_before_it_is_used_is_never_used
        a_decision_and_what_is_remembered_of_it_are_one
        only_its_principal_adds_a_reason_and_only_to_a_proposal
        a_principal_has_as_many_waiting_as_the_limit_says
        of_8_threads_one_decides_and_one_spends_200_times;
    spent:
        a_nonce_is_spent_once
        of_8_threads_exactly_one_spends_each_of_1000_nonces
        what_has_expired_cannot_be_spent
        a_clock_that_runs_ahead_makes_nothing_fresh_again;
}
