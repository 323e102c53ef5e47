//! What a log says when all is well.

use std::fs;

use jp_audit::{
    AuditError, Decision, Log, Note, Options, OutcomeKind, ProblemKind, Reader, Record, Source,
    verify,
};

use crate::{calls, fill, log_files, open, record, whole};

#[test]
fn every_field_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 20);
    let trace = ["one".to_owned(), "two\n".to_owned()];
    let hash = log.hash_arguments(b"{}");
    let number = log.append(&Record {
        sha256: Some("ab12"),
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        source: Source::Mcp,
        capability: None,
        decision: Decision::Denied,
        decided_by: None,
        outcome: OutcomeKind::NeedsInput,
        detail: Some("no \"net\" for you"),
        fuel: Some(u64::MAX),
        trace: &trace,
        transient: Some(true),
        arguments_hash: hash,
        ..record(&log, "c1")
    });
    assert_eq!(number.unwrap(), 1);
    let entry = calls(dir.path()).remove(0);
    assert_eq!((entry.seq, entry.time), (1, 1_700_000_000_000));
    assert_eq!(
        (entry.principal.as_str(), entry.call_id.as_str()),
        ("tester", "c1")
    );
    assert_eq!(
        (entry.source.as_str(), entry.decision.as_str()),
        ("mcp", "denied")
    );
    assert_eq!(
        (entry.outcome.as_str(), entry.sha256.as_deref()),
        ("needs_input", Some("ab12"))
    );
    let trace_of = entry.traceparent.as_deref();
    assert_eq!(
        trace_of,
        Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    );
    assert_eq!(entry.detail.as_deref(), Some("no \"net\" for you"));
    assert_eq!((entry.fuel, entry.transient), (Some(u64::MAX), Some(true)));
    assert_eq!(
        (entry.trace.as_slice(), entry.arguments_hash),
        (&trace[..], hash.to_string())
    );
    assert_eq!((entry.prev, entry.mac.len()), ("0".repeat(64), 64));
    assert!(entry.other.is_empty());
    assert_eq!(
        entry.raw + "\n",
        fs::read_to_string(&log_files(dir.path())[0]).unwrap()
    );
}

#[test]
fn each_record_names_the_one_before_also_across_files_and_openings() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        fill(&open(dir.path(), 1500), 10);
    }
    let report = whole(dir.path());
    assert_eq!((report.records, report.files), (30, report.events + 1));
    assert!(report.files > 3);
    let entries: Vec<_> = Reader::open(dir.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (before, after) in entries.iter().zip(&entries[1..]) {
        assert_eq!((before.seq + 1, &before.mac), (after.seq, &after.prev));
    }
    let last = report.last.unwrap();
    assert_eq!(
        Some((last.seq, &last.mac)),
        entries.last().map(|entry| (entry.seq, &entry.mac))
    );
}

#[test]
fn tail_gives_the_newest_records_across_files() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1500), 20);
    let reader = Reader::open(dir.path()).unwrap();
    for count in [0, 1, 3, 7, 1000] {
        let tail: Vec<_> = reader
            .tail(count, |_| true)
            .unwrap()
            .into_iter()
            .map(Result::unwrap)
            .collect();
        let all: Vec<_> = Reader::open(dir.path())
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(tail, all[all.len().saturating_sub(count)..]);
    }
}

#[test]
fn tail_names_bad_lines_by_their_number_and_looks_past_them() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path(), 1 << 20), 20);
    let file = dir.path().join("audit-00000001.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(18, "foo");
    lines.push("{}{}");
    std::fs::write(&file, lines.join("\n") + "\nunfinished").unwrap();
    let tail = Reader::open(dir.path()).unwrap().tail(3, |_| true).unwrap();
    let seen: Vec<Result<u64, u64>> = tail
        .into_iter()
        .map(|entry| match entry {
            Ok(entry) => Ok(entry.seq),
            Err(AuditError::BadLine { line, .. }) => Err(line),
            Err(other) => panic!("{other}"),
        })
        .collect();
    assert_eq!(seen, [Ok(18), Err(19), Ok(19), Ok(20), Err(22)]);
    let even = |entry: &jp_audit::Entry| entry.seq.is_multiple_of(2);
    let tail = Reader::open(dir.path()).unwrap().tail(2, even).unwrap();
    let seen: Vec<u64> = tail.into_iter().flatten().map(|entry| entry.seq).collect();
    assert_eq!(seen, [18, 20]);
    std::fs::write(&file, "foo\n".repeat(5000)).unwrap();
    let tail = Reader::open(dir.path()).unwrap().tail(3, |_| true).unwrap();
    assert_eq!(tail.len(), 100);
}

#[test]
fn a_missing_directory_is_an_empty_log() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("none");
    assert_eq!(
        (whole(&dir).records, Reader::open(&dir).unwrap().count()),
        (0, 0)
    );
    assert!(!dir.exists());
}

#[test]
fn argument_hashes_differ_between_logs_and_agree_within_one() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, again, two) = (
        open(one.path(), 1),
        open(one.path(), 1),
        open(two.path(), 1),
    );
    assert_eq!(one.hash_arguments(b"{}"), again.hash_arguments(b"{}"));
    assert_ne!(one.hash_arguments(b"{}"), one.hash_arguments(b"[]"));
    assert_ne!(one.hash_arguments(b"{}"), two.hash_arguments(b"{}"));
}

#[test]
fn pruned_files_are_legitimate_and_deleted_ones_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes_per_file: 1500,
        keep: Some(2),
        lease: None,
    };
    let log = Log::open(dir.path(), options.clone()).unwrap();
    fill(&log, 30);
    let files = log_files(dir.path());
    assert_eq!(files.len(), 3);
    let report = whole(dir.path());
    let oldest = Reader::open(dir.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .seq;
    assert!(oldest > 1);
    assert_eq!(report.notes, [Note::Pruned { first_seq: oldest }]);

    fs::remove_file(&files[0]).unwrap();
    let report = verify(dir.path()).unwrap();
    assert_eq!(
        (&report.problems[0].file, &report.problems[0].kind),
        (&files[0], &ProblemKind::MissingFile)
    );
    // Pruning goes on, but never makes the deletion legitimate.
    fill(&Log::open(dir.path(), options).unwrap(), 30);
    assert_eq!(log_files(dir.path()).len(), 3);
    assert!(!verify(dir.path()).unwrap().is_intact());
}

#[test]
fn no_text_can_fake_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 20);
    fill(&log, 1);
    let real = fs::read_to_string(&log_files(dir.path())[0]).unwrap();
    let attacks = [
        format!("x\n{real}"),
        format!("x\"}}\r\n{real}"),
        format!("\u{2028}{real}\u{2029}\u{85}{real}\u{b}\u{c}"),
        "\",\"outcome\":\"success\",\"x\":\"".to_owned(),
        "\\\",\"outcome\":\"success".to_owned(),
        "\u{1b}[2K\u{1b}[1A\u{9b}2J\u{202e}\0\u{7f}".to_owned(),
    ];
    for text in &attacks {
        let trace = [text.clone()];
        log.append(&Record {
            principal: text,
            call_id: text,
            tool: text,
            sha256: Some(text),
            grant: text,
            detail: Some(text),
            outcome: OutcomeKind::Denied,
            trace: &trace,
            ..record(&log, text)
        })
        .unwrap();
    }
    let raw = fs::read_to_string(&log_files(dir.path())[0]).unwrap();
    assert_eq!(raw.lines().count(), attacks.len() + 1);
    assert!(
        !raw.chars()
            .any(|c| c != '\n' && (c.is_control() || "\u{2028}\u{2029}\u{202e}".contains(c)))
    );
    assert_eq!(whole(dir.path()).records, 1 + attacks.len() as u64);
    for (entry, text) in calls(dir.path())[1..].iter().zip(&attacks) {
        assert_eq!(
            (entry.detail.as_deref(), entry.outcome.as_str()),
            (Some(text.as_str()), "denied")
        );
        assert!(entry.other.is_empty());
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path(), 1 << 30);
    let long = "\0".repeat(10 << 20);
    let trace = vec![long.clone(); 100];
    log.append(&Record {
        principal: &long,
        call_id: &long,
        tool: &long,
        sha256: Some(&long),
        grant: &long,
        detail: Some(&long),
        trace: &trace,
        ..record(&log, "")
    })
    .unwrap();
    assert!(fs::metadata(&log_files(dir.path())[0]).unwrap().len() < 200_000);
    let entry = calls(dir.path()).remove(0);
    assert!(entry.detail.unwrap().ends_with("\0…[cut, 10484736 bytes]"));
    assert_eq!(
        (entry.trace.len(), entry.trace[32].as_str()),
        (33, "…[cut, 68 lines]")
    );
    assert!(entry.trace[0].ends_with("\0…[cut, 10485504 bytes]"));
    whole(dir.path());
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_the_log() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("audit");
    fill(&open(&dir, 500), 5);
    assert_eq!(
        fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for entry in fs::read_dir(&dir).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(
            entry.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{entry:?}"
        );
    }
}
