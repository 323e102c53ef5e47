//! Servers that are killed at any moment: while they accept tasks, while they work, and when the work ends. No
//! accepted task is lost, the log is intact, and no process survives.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Scale, client::Client, dice::Dice, site::Site};

/// A process that is killed with its server is gone after this long.
const GONE: Duration = Duration::from_secs(10);

/// A workspace serves for so many rounds: an owner has a thousand tasks at most.
const ROUNDS: usize = 50;

/// When a server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Accepting,
    Working,
    Ending,
}

const MOMENTS: [Moment; 3] = [Moment::Accepting, Moment::Working, Moment::Ending];

/// What became of all tasks.
#[derive(Default)]
struct Totals {
    accepted: usize,
    done: usize,
    failed: usize,
    /// Processes of tools that ran when their server was killed.
    processes: usize,
}

pub(crate) fn run(jp: &str, scale: Scale, seed: u64) {
    println!("kills: seed {seed}");
    let mut dice = Dice::new(seed);
    let mut site = Site::start(jp);
    let mut totals = MOMENTS.map(|_| Totals::default());
    let rounds = scale.of(200);
    for round in 0..rounds {
        if round > 0 && round % ROUNDS == 0 {
            site = Site::start(jp);
        }
        let (moment, totals) = (MOMENTS[round % 3], &mut totals[round % 3]);
        let tasks = killed(&mut site, moment, &mut dice, totals);
        let survivors = site.processes_until(0, GONE);
        assert!(
            survivors.is_empty(),
            "after kill {round} ({moment:?}): {survivors:?}"
        );
        site.restart();
        assert!(
            site.log_is_intact(),
            "the log after kill {round} ({moment:?})"
        );
        for task in tasks {
            look(&site, &task, moment, totals);
        }
    }
    for (moment, totals) in MOMENTS.into_iter().zip(&totals) {
        let Totals {
            accepted,
            done,
            failed,
            processes,
        } = totals;
        println!(
            "kills while {moment:?}: {accepted} accepted tasks, none lost: {done} had completed, {failed} say that they failed; \
             {processes} processes of tools ran, none survived"
        );
    }
    println!("kills: {rounds}, the log was intact after each");
}

/// Kills the server at a moment, and returns the tasks that it had accepted.
fn killed(site: &mut Site, moment: Moment, dice: &mut Dice, totals: &mut Totals) -> Vec<String> {
    let wait = Duration::from_micros(dice.below(30_000));
    let kinds: Vec<(&str, Value)> = (0..8).map(|_| kind(moment, dice)).collect();
    let commands = kinds.iter().filter(|(tool, _)| *tool == "command").count();
    let (begun, begins) = mpsc::channel();
    let addr = site.addr;
    let at_work = thread::spawn(move || {
        let mut client = Client::new(addr);
        if moment == Moment::Accepting {
            begun.send(()).unwrap();
        }
        // A kill in between ends it; only what was accepted counts.
        let accepted = kinds
            .iter()
            .map_while(|(tool, with)| client.task(tool, with));
        let accepted: Vec<String> = accepted.collect();
        if moment != Moment::Accepting {
            begun.send(()).unwrap();
        }
        accepted
    });
    begins.recv().unwrap();
    if moment == Moment::Working {
        // Its processes are the ones that must not survive.
        let running = site.processes_until(commands, GONE);
        assert!(
            running.len() >= commands,
            "{commands} commands: {running:?}"
        );
        totals.processes += running.len();
    }
    let from = Instant::now();
    while from.elapsed() < wait {
        thread::sleep(wait.saturating_sub(from.elapsed()));
    }
    site.kill();
    at_work.join().unwrap()
}

/// Chooses a task: one that takes a minute, or one that ends when the server is killed.
fn kind(moment: Moment, dice: &mut Dice) -> (&'static str, Value) {
    let short = Duration::from_micros(dice.below(30_000)).as_secs_f64();
    let long = [
        ("task", json!({"commands": "sleep 60"})),
        ("command", json!({})),
        ("spins", json!({})),
        ("asks", json!({})),
    ];
    let brief = [
        (
            "task",
            json!({"commands": format!("sleep {short}; echo done")}),
        ),
        ("task", json!({"commands": "seq 100000 | tail -1"})),
        ("spins", json!({"ms": 5})),
    ];
    let is_long = match moment {
        Moment::Accepting => dice.below(2) == 0,
        Moment::Working => true,
        Moment::Ending => false,
    };
    let kinds = if is_long { &long[..] } else { &brief };
    let at = usize::try_from(dice.below(kinds.len() as u64)).unwrap();
    kinds[at].clone()
}

/// Looks what became of a task. One that had a minute to go cannot have completed.
fn look(site: &Site, task: &str, moment: Moment, totals: &mut Totals) {
    let mut client = Client::new(site.addr);
    let found = client.request("tasks/get", task, json!({ "taskId": task }));
    totals.accepted += 1;
    match found["result"]["status"].as_str() {
        Some("failed") => totals.failed += 1,
        Some("completed") if moment != Moment::Working => totals.done += 1,
        other => panic!("task {task} is {other:?}: {found}"),
    }
}
