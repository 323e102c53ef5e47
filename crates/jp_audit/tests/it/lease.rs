//! A log whose lock is kept for a while: nothing is lost, and nobody waits for ever.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use jp_audit::{Log, Options};

use crate::{calls, fill, open, record, whole};

fn leased(dir: &Path, lease: Duration) -> Log {
    let options = Options {
        lease: Some(lease),
        ..Options::default()
    };
    Log::open(dir, options).unwrap()
}

#[test]
fn another_process_gets_the_lock_when_the_lease_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let log = leased(dir.path(), Duration::from_millis(20));
    fill(&log, 3);
    let other = open(dir.path(), 1 << 20);
    fill(&other, 3);
    fill(&log, 3);
    assert_eq!(whole(dir.path()).records, 9);
}

#[test]
fn a_lease_that_lasts_long_ends_with_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let log = leased(dir.path(), Duration::from_secs(600));
    fill(&log, 5);
    drop(log);
    assert_eq!(whole(dir.path()).records, 5);
    assert!(started.elapsed() < Duration::from_secs(300));
}

#[test]
fn records_are_in_the_file_before_the_lease_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let log = leased(dir.path(), Duration::from_secs(600));
    for number in 0..5 {
        log.append(&record(&log, &number.to_string())).unwrap();
        assert_eq!(calls(dir.path()).len(), number + 1);
    }
}

#[test]
fn an_append_under_a_lease_leaves_the_head_alone_most_times() {
    let dir = tempfile::tempdir().unwrap();
    let head = || fs::read(dir.path().join("head")).unwrap();
    let log = leased(dir.path(), Duration::from_secs(600));
    let (mut seen, mut told) = (head(), 0);
    for _ in 0..640 {
        fill(&log, 1);
        told += usize::from(head() != seen);
        seen = head();
    }
    assert_eq!(told, 10);
    // Whoever looks when the lease is over sees a head that knows everything.
    drop(log);
    let report = whole(dir.path());
    assert_eq!((report.records, report.notes.len()), (640, 0));
}

#[test]
fn files_rotate_under_a_lease() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes_per_file: 1500,
        keep: None,
        lease: Some(Duration::from_millis(5)),
    };
    let log = Log::open(dir.path(), options).unwrap();
    fill(&log, 40);
    drop(log);
    assert_eq!(whole(dir.path()).records, 40);
    assert!(crate::log_files(dir.path()).len() > 5);
}
