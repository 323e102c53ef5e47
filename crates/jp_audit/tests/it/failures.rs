//! The errors when the log cannot be written or read.

use std::fs;

use jp_audit::{AuditError, Log, Options, ProblemKind, Reader, verify};
use proptest::prelude::*;

use crate::{fill, log_files, open, record, whole};

#[test]
fn a_lost_key_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 3);
    fs::remove_file(dir.path().join("key")).unwrap();
    let error = Log::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(error, AuditError::KeyMissing { .. }));
    assert!(error.to_string().contains("put the key back"), "{error}");
    let report = verify(dir.path()).unwrap();
    assert_eq!(
        (report.records, &report.problems[0].kind),
        (3, &ProblemKind::KeyMissing)
    );
    fs::write(dir.path().join("key"), b"short").unwrap();
    assert!(matches!(
        verify(dir.path()),
        Err(AuditError::KeyDamaged { .. })
    ));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_file_and_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path(), 1 << 20));
    let file = log_files(dir.path()).remove(0);
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/full", &file).unwrap();
    let log = open(dir.path(), 1 << 20);
    let error = log.append(&record(&log, "1")).unwrap_err().to_string();
    assert!(
        error.contains("audit-00000001.jsonl`: the disk is full; free some space"),
        "{error}"
    );
    fs::remove_file(&file).unwrap();
    let mut later = record(&log, "2");
    later.time += 1;
    log.append(&later).unwrap();
    assert_eq!(whole(dir.path()).records, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_fifo_in_place_of_the_log_keeps_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 1);
    let file = log_files(dir.path()).remove(0);
    fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let said = verify(dir.path()).map(|report| report.is_intact());
    assert!(!matches!(said, Ok(true)), "{said:?}");
}

#[test]
fn something_in_the_way_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    for target in [file.clone(), file.join("audit")] {
        let error = Log::open(&target, Options::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("something else is in its place"), "{error}");
    }
    let log = dir.path().join("log");
    fs::create_dir_all(log.join("audit-00000001.jsonl")).unwrap();
    let error = Log::open(&log, Options::default()).unwrap_err().to_string();
    assert!(error.contains("audit-00000001.jsonl"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let error = Log::open("/proc/jp-audit".as_ref(), Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot create the directory `/proc/jp-audit`"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rubbish_in_every_file_breaks_nothing(
        log_bytes in proptest::collection::vec(any::<u8>(), 0..300),
        head in proptest::collection::vec(any::<u8>(), 0..200),
        lines in "(\\{\"seq\":[0-9]{1,30},\"prev\":\"[0-9a-f]{64}\",\"x\":1,\"mac\":\"[0-9a-f]{64}\"\\}\n){0,3}",
    ) {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path(), 1 << 20));
        fs::write(dir.path().join("head"), head).unwrap();
        fs::write(&log_files(dir.path())[0], [lines.as_bytes(), &log_bytes].concat()).unwrap();
        fs::write(dir.path().join("audit-999999999999.jsonl"), &log_bytes).unwrap();
        prop_assert!(!verify(dir.path()).unwrap().is_intact());
        let _ = Reader::open(dir.path()).unwrap().count();
        let _ = Reader::open(dir.path()).unwrap().tail(10, |_| true).unwrap();
        let log = open(dir.path(), 1 << 20);
        fill(&log, 2);
        prop_assert!(!verify(dir.path()).unwrap().is_intact());
    }
}
