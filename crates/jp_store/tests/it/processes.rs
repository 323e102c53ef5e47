//! Several processes on one store, and one of them killed.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use jp_store::{Change, STOPPED, Spent as _, State, Store, TaskId, Tasks as _, Updated};

use crate::{
    conformance::{NOW, TASK},
    spent::nonce,
};

/// Says what a child is to do, and on which store.
const ROLE: &str = "JP_STORE_TEST_ROLE";
const STORE: &str = "JP_STORE_TEST_STORE";

/// This test again, in a process of its own.
struct Other {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Other {
    fn start(role: &str, path: &Path) -> Self {
        let name = "processes::what_a_child_of_other_tests_does";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(STORE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Returns the next thing that it said, whole; none when it has ended.
    fn next(&mut self) -> Option<(String, String)> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.split_once('@')
                && let Some((word, rest)) = said
                    .strip_suffix('\n')
                    .and_then(|said| said.split_once(' '))
            {
                return Some((word.to_owned(), rest.to_owned()));
            }
            line.clear();
        }
        None
    }

    /// Kills it as the system does that has no memory left.
    fn kill(mut self) -> Vec<(String, String)> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }
}

#[test]
fn what_a_child_of_other_tests_does() {
    let (Ok(role), Some(path)) = (env::var(ROLE), env::var_os(STORE)) else {
        return;
    };
    let store = Store::open(Path::new(&path), NOW).unwrap();
    match role.as_str() {
        "work" => work(&store),
        "hold" => {
            let id = store.create("ann", &TASK, NOW).unwrap();
            println!("@made {id}");
            // Until the parent ends or kills it.
            let _ = std::io::stdin().read(&mut [0]);
        }
        _ => {
            println!("@ready -");
            let _ = std::io::stdin().read(&mut [0]);
            for n in 0..200 {
                if store.spend("ann", &nonce(n), NOW + 9, NOW).unwrap() {
                    println!("@won {n}");
                }
            }
        }
    }
}

/// Makes tasks until it is killed, and says what was answered: every third ends, every third waits.
fn work(store: &Store) {
    let new = jp_store::NewTask {
        most: u64::MAX,
        ..TASK
    };
    for n in 0_u64.. {
        let id = store.create("ann", &new, NOW).unwrap();
        println!("@made {id}");
        let (requests, message) = (r#"{"a":{}}"#, None);
        let change = match n % 3 {
            0 => Change::Completed { result: "[1]" },
            1 => Change::InputRequired { requests, message },
            _ => continue,
        };
        let changed = store.update("ann", &id, &change, NOW).unwrap();
        assert_eq!(changed, Updated::Changed);
        let word = if n % 3 == 0 { "done" } else { "asks" };
        println!("@{word} {id}");
    }
}

/// Says what a killed process said of its tasks: whether each was ended.
fn told(said: &[(String, String)]) -> BTreeMap<TaskId, bool> {
    let mut told = BTreeMap::new();
    for (word, id) in said {
        let ended = told.entry(id.parse().unwrap()).or_insert(false);
        *ended |= word == "done";
    }
    told
}

/// Looks whether a task of a killed process is what it may be.
fn check(store: &Store, id: &TaskId, was_ended: bool) {
    let task = store.get("ann", id, NOW).unwrap();
    let task = task.unwrap_or_else(|| panic!("{id} has vanished"));
    let result = "[1]".to_owned();
    match task.state {
        State::Completed { result: kept } => assert_eq!(kept, result),
        State::Failed { error } => {
            assert!(!was_ended, "{id} had ended");
            assert!(error.contains(STOPPED), "{error}");
        }
        other => panic!("{id} is {other:?}, and nobody works on it"),
    }
}

#[test]
fn of_50_killed_servers_no_task_vanishes_and_none_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let store = Store::open(&path, NOW).unwrap();
    let own = store.create("ann", &TASK, NOW).unwrap();
    let mut holder = Other::start("hold", &path);
    let (_, held) = holder.next().unwrap();
    let held: TaskId = held.parse().unwrap();
    let mut all = BTreeMap::new();
    for round in 0..50 {
        let mut worker = Other::start("work", &path);
        let mut said: Vec<_> = (0..round % 17).map(|_| worker.next().unwrap()).collect();
        said.extend(worker.kill());
        let tasks = told(&said);
        // Whoever asks finds it out, and so does whoever opens the store.
        let next = (round % 2 == 1).then(|| Store::open(&path, NOW).unwrap());
        for (id, was_ended) in &tasks {
            check(next.as_ref().unwrap_or(&store), id, *was_ended);
        }
        all.extend(tasks);
        for live in [&own, &held] {
            let task = store.get("ann", live, NOW).unwrap().unwrap();
            assert_eq!(task.state, State::Working, "its server lives");
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    for (id, was_ended) in &all {
        check(&store, id, *was_ended);
    }
    holder.kill();
    check(&store, &held, false);
    let locks = std::fs::read_dir(dir.path().join("store.sqlite.servers")).unwrap();
    let next = Store::open(&path, NOW).unwrap();
    assert!(locks.count() <= 3, "dead locks are swept");
    assert_eq!(next.adopt(NOW).unwrap(), 0);
}

#[test]
fn of_4_processes_exactly_one_spends_each_nonce() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let mut others = [0; 4].map(|_| Other::start("spend", &path));
    for other in &mut others {
        assert_eq!(other.next().unwrap().0, "ready");
    }
    for other in &mut others {
        drop(other.child.stdin.take());
    }
    let mut won = Vec::new();
    for mut other in others {
        won.extend(std::iter::from_fn(|| other.next()).map(|(_, n)| n.parse::<u32>().unwrap()));
        assert!(other.child.wait().unwrap().success());
    }
    won.sort_unstable();
    assert_eq!(won, (0..200).collect::<Vec<_>>());
}
