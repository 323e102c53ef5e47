//! Several processes on one store, and one of them killed.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use jp_store::{
    Change, Pending as _, RequestId, STOPPED, SameCall, Spent as _, Standing, State, Store, TaskId,
    Tasks as _, Updated,
};

use crate::{
    conformance::{NOW, TASK},
    requests::{new, once},
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
        "wait" => wait(&store),
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

/// The call that a killed server had waited for.
fn call(digest: &[u8; 32]) -> SameCall<'_> {
    SameCall {
        principal: "ann",
        tool: "t",
        workspace: "/w",
        arguments: digest,
        shown: &[2; 32],
    }
}

/// Waits for decisions about calls and makes each call that was allowed, as a server does.
fn wait(store: &Store) {
    for number in 0_u64.. {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest[8..12].copy_from_slice(&std::process::id().to_le_bytes());
        let id = store.file(&new(call(&digest)), NOW).unwrap();
        println!("@filed {id}");
        loop {
            match store.request(&id, NOW).unwrap().unwrap().standing {
                Standing::Waiting => std::thread::yield_now(),
                Standing::Allowed => {
                    if store.redeem(&call(&digest), NOW).unwrap().is_some() {
                        println!("@ran {id}");
                    }
                    break;
                }
                _ => break,
            }
        }
    }
}

/// What a person does while a server waits, and when the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Allow,
    AllowAndRevoke,
    Deny,
    Nothing,
}

#[test]
fn of_200_servers_killed_while_they_wait_no_call_runs_twice_or_without_a_decision() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let store = Store::open(&path, NOW).unwrap();
    // Seeded: which of the cases comes when is the same each time.
    let mut seed = 17_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut server = Other::start("wait", &path);
    let (mut ran_before, mut ran_after, mut killed) = (0, 0, 0);
    while killed < 200 {
        let (word, id) = server.next().unwrap();
        if word == "ran" {
            continue;
        }
        let id: RequestId = id.parse().unwrap();
        let then = [Then::Allow, Then::AllowAndRevoke, Then::Deny, Then::Nothing];
        let then = then[usize::try_from(next(4)).unwrap()];
        let author = format!("person {killed}");
        let late = next(3);
        let said = |server: Other| -> bool {
            let said = server.kill();
            said.iter()
                .any(|(word, of)| word == "ran" && *of == id.to_string())
        };
        let mut dead = None;
        if late == 0 {
            dead = Some(said(std::mem::replace(
                &mut server,
                Other::start("wait", &path),
            )));
        }
        match then {
            Then::Allow | Then::AllowAndRevoke => {
                store.decide(&id, &once(), &author, NOW).unwrap();
            }
            Then::Deny => {
                let no = jp_store::Verdict::Deny { remember: vec![] };
                store.decide(&id, &no, &author, NOW).unwrap();
            }
            Then::Nothing => {}
        }
        let mut revoked = false;
        if then == Then::AllowAndRevoke {
            revoked = jp_store::Grants::revoke(&store, id.as_str(), NOW).unwrap();
        }
        let ran = dead
            .unwrap_or_else(|| said(std::mem::replace(&mut server, Other::start("wait", &path))));
        killed += 1;
        let found = store.request(&id, NOW).unwrap().unwrap();
        let again = store.redeem(&call(&found.arguments), NOW).unwrap();
        assert!(!(ran && again.is_some()), "{killed}: {then:?} ran twice");
        let may = matches!(then, Then::Allow | Then::AllowAndRevoke);
        assert!(may || !(ran || again.is_some()), "{killed}: {then:?}");
        assert!(
            !(revoked && (ran || again.is_some())),
            "{killed}: taken back"
        );
        if let Some(again) = &again {
            assert_eq!(again.author, author, "the record says who");
        }
        ran_before += usize::from(ran);
        ran_after += usize::from(again.is_some());
        let standing = store.request(&id, NOW).unwrap().unwrap().standing;
        let expected: &[Standing] = match then {
            Then::Allow => &[Standing::Spent],
            Then::AllowAndRevoke if revoked => &[Standing::Revoked],
            Then::AllowAndRevoke => &[Standing::Spent],
            Then::Deny => &[Standing::Denied],
            Then::Nothing => &[Standing::Waiting],
        };
        assert!(
            expected.contains(&standing),
            "{killed}: {then:?} {standing:?}"
        );
    }
    assert!(ran_after > 10, "{ran_before} before, {ran_after} after");
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
