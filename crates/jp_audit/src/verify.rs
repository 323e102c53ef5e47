//! Checks a log from end to end. Reads only: it changes nothing and repairs nothing.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use serde::de::IgnoredAny;

use crate::{
    AuditError, files,
    frame::{self, Frame},
    head::{self, Head, Stored},
    json,
    key::{self, Keys},
    lines::{Line, Lines},
    log::HEAD_EVERY,
    report::{Last, MAX_PROBLEMS, Note, Problem, ProblemKind, Report},
    snapshot::Snapshot,
};

/// Records that a crash may leave which the head does not know of.
const MOST_BEHIND: u64 = HEAD_EVERY + 1;

/// How often verification starts again because files were pruned while it read them.
const MAX_TURNS: u32 = 8;

/// Checks every record of a directory's log. Others may append meanwhile: what they add after the
/// start is not looked at.
///
/// A directory that is not there, or is empty, has a log of no records. For what can and cannot be
/// found see the [crate's documentation](crate).
pub fn verify(dir: &Path) -> Result<Report, AuditError> {
    for _ in 0..MAX_TURNS {
        let keys = Keys::load(dir)?;
        let snapshot = Snapshot::take(dir, keys.as_ref())?;
        let before = snapshot.head;
        let report = Verifier::new(dir, keys.as_ref()).run(snapshot)?;
        if report.is_intact() || !moved_on(dir, keys.as_ref(), before)? {
            return Ok(report);
        }
    }
    Err(AuditError::Unsettled {
        dir: dir.to_owned(),
    })
}

/// Returns whether what looks like a problem may come from others at work: the log was founded, or
/// files were pruned before they were read.
fn moved_on(dir: &Path, keys: Option<&Keys>, before: Stored) -> Result<bool, AuditError> {
    let Some(keys) = keys else {
        return Ok(Keys::load(dir)?.is_some());
    };
    let first_file = |stored: Stored| stored.valid().map(|head| head.first_file);
    Ok(first_file(before) != first_file(Head::read(dir, keys)?))
}

/// Walks along the chain and remembers where it is.
struct Verifier<'a> {
    dir: &'a Path,
    keys: Option<&'a Keys>,
    report: Report,
    /// The number of the last genuine record in its place; at first, the one before the first.
    seq: u64,
    /// Its MAC, if the next record must name it.
    mac: Option<[u8; 32]>,
    /// How many lines since then are not genuine. They stand for as many records, which are then
    /// not reported as missing too.
    bad: u64,
    /// The place being looked at.
    file: PathBuf,
    line: u64,
}

impl<'a> Verifier<'a> {
    fn new(dir: &'a Path, keys: Option<&'a Keys>) -> Self {
        let report = Report::default();
        Self {
            dir,
            keys,
            report,
            seq: 0,
            mac: Some([0; 32]),
            bad: 0,
            file: PathBuf::new(),
            line: 0,
        }
    }

    fn run(mut self, snapshot: Snapshot) -> Result<Report, AuditError> {
        self.check_key_and_head(&snapshot);
        let head = snapshot.head.valid();
        let first = match head {
            Some(head) => head.first_file,
            None => 1,
        };
        if let Some(head) = head.filter(|head| head.first_file > 1) {
            self.seq = head.first_seq.saturating_sub(1);
            // The record before was pruned; that the first one is genuine vouches for its link.
            self.mac = None;
            self.report.notes.push(Note::Pruned {
                first_seq: head.first_seq,
            });
        }
        let mut expected = first;
        for number in snapshot
            .numbers
            .iter()
            .copied()
            .filter(|number| *number >= first)
        {
            // A crash between closing a file and telling the head leaves it one behind.
            if head.is_some_and(|head| number > head.file + 1) {
                self.report_file(files::log_path(self.dir, number), ProblemKind::Stray);
                continue;
            }
            self.report_missing_files(expected, number);
            expected = number + 1;
            let limit = snapshot.current.filter(|current| current.0 == number);
            self.read_file(number, limit.map_or(u64::MAX, |current| current.1))?;
        }
        if let Some(head) = head {
            self.report_missing_files(expected, head.file + 1);
            self.check_end(&head);
        }
        self.report.last = (self.report.records + self.report.events > 0).then(|| {
            let mut mac = Vec::new();
            json::hex(&mut mac, &self.mac.unwrap_or_default());
            Last {
                seq: self.seq,
                mac: String::from_utf8_lossy(&mac).into_owned(),
            }
        });
        Ok(self.report)
    }

    fn check_key_and_head(&mut self, snapshot: &Snapshot) {
        if self.keys.is_none() {
            // A log that is only being founded has no records yet.
            let has_records = |number: &u64| {
                files::log_path(self.dir, *number)
                    .metadata()
                    .is_ok_and(|file| file.len() > 0)
            };
            if snapshot.numbers.iter().any(has_records) {
                self.report_file(key::path(self.dir), ProblemKind::KeyMissing);
            }
            return;
        }
        match snapshot.head {
            Stored::Valid(_) => {}
            Stored::Damaged => self.report_file(head::path(self.dir), ProblemKind::HeadDamaged),
            Stored::Missing => self.report_file(head::path(self.dir), ProblemKind::HeadMissing),
        }
    }

    fn report_missing_files(&mut self, from: u64, to: u64) {
        for number in from..to {
            if self.report.problems.len() >= MAX_PROBLEMS {
                self.report.problems_not_listed += to - number;
                return;
            }
            self.report_file(files::log_path(self.dir, number), ProblemKind::MissingFile);
        }
    }

    fn read_file(&mut self, number: u64, limit: u64) -> Result<(), AuditError> {
        self.file = files::log_path(self.dir, number);
        self.line = 0;
        let Some(file) = files::open_existing(&self.file)? else {
            self.report_file(self.file.clone(), ProblemKind::MissingFile);
            return Ok(());
        };
        self.report.files += 1;
        let mut lines: Lines<std::io::Take<File>> = Lines::new(file.take(limit));
        let mut line = Vec::new();
        loop {
            let read = lines.next_into(&mut line);
            match read.map_err(|error| AuditError::io("read", &self.file, error))? {
                None => return Ok(()),
                Some(Line::Whole) => {
                    self.line += 1;
                    self.check_line(&line);
                }
                Some(Line::TooLong) => {
                    self.line += 1;
                    self.bad += 1;
                    self.report_line(None, ProblemKind::BadJson);
                }
                Some(Line::Unfinished) => {
                    self.line += 1;
                    self.report_line(None, ProblemKind::TornTail);
                    return Ok(());
                }
            }
        }
    }

    fn check_line(&mut self, line: &[u8]) {
        let frame = Frame::parse(line);
        let genuine = frame
            .as_ref()
            .filter(|frame| self.keys.is_none_or(|keys| frame.is_authentic(keys)));
        if let Some(frame) = genuine {
            return self.check_place(frame);
        }
        self.bad += 1;
        let is_json = serde_json::from_slice::<IgnoredAny>(line).is_ok();
        let kind = if is_json {
            ProblemKind::Changed
        } else {
            ProblemKind::BadJson
        };
        self.report_line(frame.map(|frame| frame.seq), kind);
    }

    /// Checks that a genuine record stands where it belongs.
    fn check_place(&mut self, frame: &Frame<'_>) {
        if frame.seq <= self.seq {
            return self.report_line(Some(frame.seq), ProblemKind::Reordered);
        }
        let gap = frame.seq - self.seq - 1;
        if gap > self.bad {
            let kind = ProblemKind::Missing {
                count: gap - self.bad,
                next: frame.seq,
            };
            self.report_line(Some(frame.seq), kind);
        } else if gap == 0 && self.mac.is_some_and(|mac| mac != frame.prev) {
            self.report_line(Some(frame.seq), ProblemKind::Forked);
        }
        self.seq = frame.seq;
        self.mac = Some(frame.mac);
        self.bad = 0;
        if frame.body.starts_with(frame::EVENT) {
            self.report.events += 1;
            self.note_event(frame);
        } else {
            self.report.records += 1;
        }
    }

    fn note_event(&mut self, frame: &Frame<'_>) {
        if frame.is_event(frame::HEAD_LOST) {
            self.report_line(Some(frame.seq), ProblemKind::HeadLost);
        }
        if frame.is_event(frame::REPAIRED) && self.report.notes.len() < MAX_PROBLEMS {
            self.report
                .notes
                .extend(Note::repaired(frame.seq, frame.body));
        }
    }

    /// Compares the end of the log with the head.
    fn check_end(&mut self, head: &Head) {
        self.file = files::log_path(self.dir, head.file);
        let lost = head.seq.saturating_sub(self.seq);
        if lost > self.bad {
            let kind = ProblemKind::CutOff {
                count: lost - self.bad,
                last: head.seq,
            };
            let problem = Problem {
                file: self.file.clone(),
                line: None,
                seq: Some(head.seq),
                kind,
            };
            self.report.add(problem);
        } else if self.seq == head.seq && self.mac.is_some_and(|mac| mac != head.mac) {
            self.report_line(Some(self.seq), ProblemKind::Forked);
        }
        match self.seq.saturating_sub(head.seq) {
            0 => {}
            // As many as are appended before the head is told: the last time, two at once.
            1..=MOST_BEHIND => self.report.notes.push(Note::HeadBehind),
            behind => self.report_file(head::path(self.dir), ProblemKind::HeadStale { behind }),
        }
    }

    fn report_file(&mut self, file: PathBuf, kind: ProblemKind) {
        self.report.add(Problem {
            file,
            line: None,
            seq: None,
            kind,
        });
    }

    fn report_line(&mut self, seq: Option<u64>, kind: ProblemKind) {
        let (file, line) = (self.file.clone(), Some(self.line));
        self.report.add(Problem {
            file,
            line,
            seq,
            kind,
        });
    }
}
