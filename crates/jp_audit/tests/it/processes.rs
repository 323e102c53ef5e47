//! Many processes and threads append at once, and some die while they do.

use std::{
    collections::HashSet,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use jp_audit::{Log, Note, Options, Problem, ProblemKind, verify};

use crate::{calls, fill, log_files, open, record, whole};

const DIR: &str = "JP_AUDIT_TEST_DIR";
const COUNT: &str = "JP_AUDIT_TEST_COUNT";
const KEEP: &str = "JP_AUDIT_TEST_KEEP";
const LEASE: &str = "JP_AUDIT_TEST_LEASE";

/// Runs as a child of the tests below; on its own it has nothing to do.
#[test]
fn child_appends() {
    let Some(dir) = env::var_os(DIR) else { return };
    let number = |name| env::var(name).ok().map(|text| text.parse().unwrap());
    let long = number(LEASE).map(Duration::from_secs);
    // Processes with a lease and without one share a log.
    let short = std::process::id()
        .is_multiple_of(2)
        .then_some(Duration::from_millis(3));
    let options = Options {
        max_bytes_per_file: long.map_or(20_000, |_| 1 << 20),
        keep: number(KEEP),
        lease: long.or(short),
    };
    let log = Log::open(dir.as_ref(), options).unwrap();
    let mut out = std::io::stdout();
    for id in 0..number(COUNT).unwrap() {
        let call_id = format!("{}-{id}", std::process::id());
        log.append(&record(&log, &call_id)).unwrap();
        // Past the test harness, which would catch what `println!` says.
        writeln!(out, "appended {call_id}").unwrap();
    }
}

fn spawn(dir: &Path, count: u64, keep: Option<u64>) -> Child {
    child(dir, count, keep).spawn().unwrap()
}

fn child(dir: &Path, count: u64, keep: Option<u64>) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "processes::child_appends", "--nocapture"]);
    command
        .env(DIR, dir)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped());
    if let Some(keep) = keep {
        command.env(KEEP, keep.to_string());
    }
    command
}

/// Reads what a child appended, until it ends or `enough` were seen.
fn appended(child: &mut Child, enough: usize) -> Vec<String> {
    let lines = BufReader::new(child.stdout.as_mut().unwrap())
        .lines()
        .map_while(Result::ok);
    // The harness prints the test's name without ending the line.
    let ids = lines.filter_map(|line| Some(line.split_once("appended ")?.1.to_owned()));
    ids.take(enough).collect()
}

#[test]
fn many_processes_lose_nothing_also_when_files_rotate() {
    let dir = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..4).map(|_| spawn(dir.path(), 500, None)).collect();
    for child in &mut children {
        assert_eq!(appended(child, usize::MAX).len(), 500);
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(whole(dir.path()).records, 2000);
    let ids: HashSet<_> = calls(dir.path())
        .into_iter()
        .map(|entry| entry.call_id)
        .collect();
    assert_eq!(ids.len(), 2000);
    assert!(log_files(dir.path()).len() > 20);
}

#[test]
fn the_log_is_whole_at_any_moment_while_others_append_and_prune() {
    let dir = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..2).map(|_| spawn(dir.path(), 2000, Some(1))).collect();
    let readers: Vec<_> = children
        .drain(..)
        .map(|mut child| {
            thread::spawn(move || {
                let count = appended(&mut child, usize::MAX).len();
                (count, child.wait().unwrap().success())
            })
        })
        .collect();
    while !readers.iter().all(thread::JoinHandle::is_finished) {
        whole(dir.path());
    }
    for reader in readers {
        assert_eq!(reader.join().unwrap(), (2000, true));
    }
    assert_eq!(log_files(dir.path()).len(), 2);
    whole(dir.path());
}

#[test]
fn processes_killed_while_appending_leave_a_whole_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for round in 0..50 {
        let mut children = [
            spawn(dir.path(), u64::MAX, None),
            spawn(dir.path(), u64::MAX, None),
        ];
        for child in &mut children {
            seen.extend(appended(child, 1 + round * 3));
            child.kill().unwrap();
        }
        for child in &mut children {
            child.wait().unwrap();
        }
        // A kill in the middle of a line leaves a torn one, which the next append repairs.
        let problems = verify(dir.path()).unwrap().problems;
        assert!(
            problems
                .iter()
                .all(|p| p.kind == jp_audit::ProblemKind::TornTail),
            "{problems:?}"
        );
    }
    let mut last = spawn(dir.path(), 1, None);
    seen.extend(appended(&mut last, usize::MAX));
    last.wait().unwrap();
    whole(dir.path());
    let ids: HashSet<_> = calls(dir.path())
        .into_iter()
        .map(|entry| entry.call_id)
        .collect();
    assert!(seen.iter().all(|id| ids.contains(id)));
}

#[test]
fn a_process_killed_under_a_lease_leaves_a_whole_log() {
    let dir = tempfile::tempdir().unwrap();
    let (mut seen, mut behind) = (Vec::new(), 0);
    for count in [1, 32, 63, 64, 65, 129] {
        let mut child = child(dir.path(), u64::MAX, None)
            .env(LEASE, "600")
            .spawn()
            .unwrap();
        seen.extend(appended(&mut child, count));
        child.kill().unwrap();
        child.wait().unwrap();
        let report = verify(dir.path()).unwrap();
        let torn = |problem: &Problem| problem.kind == ProblemKind::TornTail;
        assert!(report.problems.iter().all(torn), "{:?}", report.problems);
        behind += usize::from(report.notes.contains(&Note::HeadBehind));
        // The next append repairs it, and the next process has a lease again.
        fill(&open(dir.path(), 1 << 20), 1);
        whole(dir.path());
    }
    // Only one that was killed the moment the head had been told is not behind.
    assert!(behind >= 3, "{behind}");
    let entries = calls(dir.path()).into_iter();
    let ids: HashSet<_> = entries.map(|entry| entry.call_id).collect();
    assert!(seen.iter().all(|id| ids.contains(id)));
}

#[test]
fn threads_share_one_log_or_open_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes_per_file: 20_000,
        keep: None,
        lease: None,
    };
    let leased = Options {
        lease: Some(Duration::from_millis(3)),
        ..options.clone()
    };
    let shared = Arc::new(Log::open(dir.path(), options.clone()).unwrap());
    thread::scope(|scope| {
        for number in 0..8 {
            let own = if number % 4 == 1 { &leased } else { &options };
            let own = Arc::new(Log::open(dir.path(), own.clone()).unwrap());
            let log = if number % 2 == 0 {
                Arc::clone(&shared)
            } else {
                own
            };
            scope.spawn(move || {
                for id in 0..200 {
                    log.append(&record(&log, &format!("{number}-{id}")))
                        .unwrap();
                }
            });
        }
    });
    shared.sync().unwrap();
    assert_eq!(whole(dir.path()).records, 1600);
    let ids: HashSet<_> = calls(dir.path())
        .into_iter()
        .map(|entry| entry.call_id)
        .collect();
    assert_eq!(ids.len(), 1600);
}
