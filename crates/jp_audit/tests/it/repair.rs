//! What a crash leaves behind, and how the log goes on.

use std::{fs, io::Write, path::Path};

use jp_audit::{Note, ProblemKind, Reader, verify};

use crate::{calls, fill, log_files, open, record, whole};

/// Returns the ids of all calls.
fn ids(dir: &Path) -> Vec<String> {
    let calls = calls(dir).into_iter();
    calls.map(|entry| entry.call_id).collect()
}

#[test]
fn a_line_torn_anywhere_is_set_aside_and_nothing_else_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 5);
    let (log_file, head_file) = (log_files(dir.path()).remove(0), dir.path().join("head"));
    let (good, head) = (fs::read(&log_file).unwrap(), fs::read(&head_file).unwrap());
    fill(&open(dir.path(), 1 << 20), 1);
    let longer = fs::read(&log_file).unwrap();
    for cut in good.len()..=longer.len() {
        // The head is written after the line, so a crash leaves the old one.
        fs::write(&log_file, &longer[..cut]).unwrap();
        fs::write(&head_file, &head).unwrap();
        let before = verify(dir.path()).unwrap();
        let log = open(dir.path(), 1 << 20);
        log.append(&record(&log, "after")).unwrap();
        let ids = ids(dir.path());
        let report = whole(dir.path());
        if cut == good.len() {
            assert!(before.is_intact() && before.notes.is_empty());
            assert_eq!(ids, ["0", "1", "2", "3", "4", "after"]);
        } else if cut == longer.len() {
            assert_eq!(
                (before.is_intact(), before.notes),
                (true, vec![Note::HeadBehind])
            );
            assert_eq!(ids, ["0", "1", "2", "3", "4", "0", "after"]);
        } else {
            assert_eq!(before.problems[0].kind, ProblemKind::TornTail);
            assert_eq!(ids, ["0", "1", "2", "3", "4", "after"]);
            let [
                Note::Repaired {
                    seq: 6,
                    torn_file,
                    torn_bytes,
                },
            ] = report.notes.as_slice()
            else {
                panic!("{:?}", report.notes)
            };
            let torn = fs::read(dir.path().join(torn_file)).unwrap();
            assert_eq!(
                (torn.as_slice(), torn.len() as u64),
                (&longer[good.len()..cut], *torn_bytes)
            );
            fs::remove_file(dir.path().join(torn_file)).unwrap();
        }
    }
}

#[test]
fn of_two_records_written_together_a_crash_takes_both_or_the_second() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 2);
    let (log_file, head_file) = (log_files(dir.path()).remove(0), dir.path().join("head"));
    let (good, head) = (fs::read(&log_file).unwrap(), fs::read(&head_file).unwrap());
    let log = open(dir.path(), 1 << 20);
    let first = record(&log, "first").wait();
    log.append_after(Some(&first), &record(&log, "second"))
        .unwrap();
    drop(log);
    assert_eq!(whole(dir.path()).records, 4);
    let longer = fs::read(&log_file).unwrap();
    let added = &longer[good.len()..];
    let line = good.len() + 1 + added.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in good.len()..=longer.len() {
        fs::write(&log_file, &longer[..cut]).unwrap();
        fs::write(&head_file, &head).unwrap();
        let before = verify(dir.path()).unwrap();
        let is_torn = ![good.len(), line, longer.len()].contains(&cut);
        assert_eq!(before.is_intact(), !is_torn, "cut at {cut}");
        let is_behind = before.notes.contains(&Note::HeadBehind);
        assert_eq!(is_behind, cut >= line, "cut at {cut}");
        let log = open(dir.path(), 1 << 20);
        log.append(&record(&log, "after")).unwrap();
        let ids = ids(dir.path());
        whole(dir.path());
        let expected: &[&str] = match cut {
            cut if cut < line => &["0", "1", "after"],
            cut if cut < longer.len() => &["0", "1", "first", "after"],
            _ => &["0", "1", "first", "second", "after"],
        };
        assert_eq!(ids, expected, "cut at {cut}");
    }
}

#[test]
fn a_running_log_repairs_what_another_process_tore() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 20);
    fill(&log, 3);
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(&log_files(dir.path())[0])
        .unwrap();
    file.write_all(b"{\"seq\":4,\"forged\":true}\n{\"seq\"")
        .unwrap();
    assert!(!verify(dir.path()).unwrap().is_intact());
    fill(&log, 2);
    let report = whole(dir.path());
    assert_eq!(
        (report.records, report.events, report.notes.len()),
        (5, 1, 1)
    );
    assert_eq!(
        report.notes[0].to_string(),
        "record 4 reports a repair: 30 bytes of an unfinished line are in `torn-00000004.txt`"
    );
}

#[test]
fn a_crash_in_the_middle_of_rotation_is_finished_by_the_next_append() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    fill(&open(path, 1200), 3);
    let before = fs::read(path.join("head")).unwrap();
    fill(&open(path, 1200), 1);
    let files = log_files(path);
    assert_eq!(files.len(), 2);
    // Died after the closing line; with and without the next file, and with the head before it.
    for empty_file in [true, false] {
        fs::write(path.join("head"), &before).unwrap();
        if empty_file {
            fs::write(&files[1], b"").unwrap();
        } else {
            fs::remove_file(&files[1]).unwrap();
        }
        assert!(whole(path).records >= 3);
        fill(&open(path, 1200), 1);
        assert_eq!((whole(path).records, log_files(path).len()), (4, 2));
    }
}

#[test]
fn cut_off_records_stay_missed_after_the_log_went_on() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 20);
    fill(&log, 5);
    let file = log_files(dir.path()).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let kept: String = text
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&file, &kept).unwrap();
    let report = verify(dir.path()).unwrap();
    assert_eq!(
        report.problems[0].kind,
        ProblemKind::CutOff { count: 2, last: 5 }
    );
    fill(&log, 1);
    fill(&open(dir.path(), 1 << 20), 1);
    let report = verify(dir.path()).unwrap();
    assert_eq!(report.problems.len(), 1);
    assert_eq!(
        report.problems[0].kind,
        ProblemKind::Missing { count: 2, next: 6 }
    );
    assert_eq!(
        (
            report.problems[0].line,
            report.problems[0].seq,
            report.records
        ),
        (Some(4), Some(6), 5)
    );
}

#[test]
fn a_lost_head_is_seen_and_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    fill(&open(path, 1500), 10);
    fs::remove_file(path.join("head")).unwrap();
    assert_eq!(
        verify(path).unwrap().problems[0].kind,
        ProblemKind::HeadMissing
    );
    fill(&open(path, 1500), 2);
    let report = verify(path).unwrap();
    assert_eq!((report.records, report.problems.len()), (12, 1));
    assert_eq!(report.problems[0].kind, ProblemKind::HeadLost);
}

#[test]
fn a_log_that_was_moved_away_goes_on_under_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 20);
    fill(&log, 2);
    let file = log_files(dir.path()).remove(0);
    fs::rename(&file, dir.path().join("elsewhere")).unwrap();
    let mut later = record(&log, "later");
    later.time += 1;
    log.append(&later).unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().count(), 1);
    let report = verify(dir.path()).unwrap();
    assert_eq!(
        report.problems[0].kind,
        ProblemKind::Missing { count: 2, next: 3 }
    );
}

#[test]
fn bytes_slipped_in_do_not_cost_the_records_after_them() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 5);
    let file = log_files(dir.path()).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("tester", "somebody else", 1)).unwrap();
    fill(&open(dir.path(), 1 << 20), 1);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.records, report.problems.len()), (5, 1));
    assert_eq!(report.problems[0].kind, ProblemKind::Changed);
}
