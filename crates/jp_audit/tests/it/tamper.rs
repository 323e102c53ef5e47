//! Whatever is done to the files without the key, the verifier sees it, also after the log went on.

use std::{fs, path::Path};

use jp_audit::{Note, ProblemKind, verify};
use proptest::{prelude::*, sample::Index};

use crate::{fill, log_files, open};

const MAX_BYTES: u64 = 1000;

#[derive(Debug, Clone)]
enum Attack {
    Flip { place: Index, bit: u8 },
    FlipHead { place: Index, bit: u8 },
    DeleteLine(Index),
    CopyLine(Index, Index),
    Swap(Index, Index),
    Insert { place: Index, bytes: Vec<u8> },
    CutTail(Index),
    DeleteFile(Index),
    EmptyFile(Index),
}

fn attack() -> impl Strategy<Value = Attack> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), 0..8_u8).prop_map(|(place, bit)| Attack::Flip { place, bit }),
        1 => (index(), 0..8_u8).prop_map(|(place, bit)| Attack::FlipHead { place, bit }),
        2 => index().prop_map(Attack::DeleteLine),
        2 => (index(), index()).prop_map(|(from, to)| Attack::CopyLine(from, to)),
        2 => (index(), index()).prop_map(|(one, two)| Attack::Swap(one, two)),
        2 => (index(), proptest::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(place, bytes)| Attack::Insert { place, bytes }),
        4 => index().prop_map(Attack::CutTail),
        1 => index().prop_map(Attack::DeleteFile),
        1 => index().prop_map(Attack::EmptyFile),
    ]
}

/// Reads all files as lines; a line keeps its newline.
fn read(dir: &Path) -> Vec<Vec<Vec<u8>>> {
    let files = log_files(dir)
        .into_iter()
        .map(|path| fs::read(path).unwrap());
    files
        .map(|bytes| {
            bytes
                .split_inclusive(|b| *b == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        })
        .collect()
}

fn write(dir: &Path, files: &[Vec<Vec<u8>>]) {
    for (path, lines) in log_files(dir).iter().zip(files) {
        fs::write(path, lines.concat()).unwrap();
    }
}

/// Finds the line of a place among all lines.
fn line_at(files: &[Vec<Vec<u8>>], place: &Index) -> (usize, usize) {
    let all: Vec<_> = files
        .iter()
        .enumerate()
        .flat_map(|(f, lines)| (0..lines.len()).map(move |l| (f, l)))
        .collect();
    *place.get(&all)
}

fn carry_out(attack: &Attack, dir: &Path) {
    let mut files = read(dir);
    let paths = log_files(dir);
    match attack {
        Attack::Flip { place, bit } => {
            let (file, line) = line_at(&files, place);
            let at = place.index(files[file][line].len());
            files[file][line][at] ^= 1 << bit;
        }
        Attack::FlipHead { place, bit } => {
            let mut head = fs::read(dir.join("head")).unwrap();
            let at = place.index(head.len());
            head[at] ^= 1 << bit;
            fs::write(dir.join("head"), head).unwrap();
        }
        Attack::DeleteLine(place) => {
            let (file, line) = line_at(&files, place);
            files[file].remove(line);
        }
        Attack::CopyLine(from, to) => {
            let ((file, line), (to_file, to_line)) = (line_at(&files, from), line_at(&files, to));
            let copy = files[file][line].clone();
            files[to_file].insert(to_line, copy);
        }
        Attack::Swap(one, two) => {
            let (one, two) = (line_at(&files, one), line_at(&files, two));
            let first = files[one.0][one.1].clone();
            files[one.0][one.1] = std::mem::replace(&mut files[two.0][two.1], first);
        }
        Attack::Insert { place, bytes } => {
            let (file, line) = line_at(&files, place);
            let at = place.index(files[file][line].len());
            files[file][line].splice(at..at, bytes.iter().copied());
        }
        Attack::CutTail(place) => {
            let sizes: Vec<usize> = files.iter().map(|lines| lines.concat().len()).collect();
            let mut keep = place.index(sizes.iter().sum());
            for (path, size) in paths.iter().zip(sizes) {
                if keep == 0 {
                    fs::remove_file(path).unwrap();
                } else {
                    let bytes = fs::read(path).unwrap();
                    fs::write(path, &bytes[..keep.min(size)]).unwrap();
                    keep -= keep.min(size);
                }
            }
            return;
        }
        Attack::DeleteFile(place) => return fs::remove_file(place.get(&paths)).unwrap(),
        Attack::EmptyFile(place) => return fs::write(place.get(&paths), b"").unwrap(),
    }
    write(dir, &files);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_attack_is_seen_now_and_later(attack in attack()) {
        let dir = tempfile::tempdir().unwrap();
        fill(&open(dir.path(), MAX_BYTES), 8);
        let (before, head) = (read(dir.path()), fs::read(dir.path().join("head")).unwrap());
        prop_assert!(before.len() > 2 && verify(dir.path()).unwrap().is_intact());
        carry_out(&attack, dir.path());
        let changed = read(dir.path()) != before || fs::read(dir.path().join("head")).unwrap() != head;
        prop_assert_eq!(verify(dir.path()).unwrap().is_intact(), !changed);
        fill(&open(dir.path(), MAX_BYTES), 5);
        let report = verify(dir.path()).unwrap();
        // What was only added after the end is set aside, and the log says so.
        let set_aside = matches!(report.notes.as_slice(), [Note::Repaired { .. }]);
        // A cut that took the last line's end and nothing else is repaired silently: the log is
        // what it was, and goes on.
        let repaired = || read(dir.path()).concat().starts_with(&before.concat());
        prop_assert!(report.is_intact() != changed || set_aside || repaired());
        prop_assert!(!report.is_intact() || report.records == 13);
    }
}

#[test]
fn each_attack_is_named_for_what_it_is() {
    let (changed, reordered) = (ProblemKind::Changed, ProblemKind::Reordered);
    let missing = |count, next| ProblemKind::Missing { count, next };
    type Edit = fn(&mut Vec<String>);
    let table: [(Edit, Vec<ProblemKind>); 7] = [
        (
            |lines| lines[2] = lines[2].replace("tester", "nobody"),
            vec![changed.clone()],
        ),
        (
            |lines| lines[2] = "rubbish\n".into(),
            vec![ProblemKind::BadJson],
        ),
        (|lines| drop(lines.remove(2)), vec![missing(1, 4)]),
        (|lines| drop(lines.drain(0..2)), vec![missing(2, 3)]),
        (
            |lines| lines.swap(2, 3),
            vec![missing(1, 4), reordered.clone()],
        ),
        (|lines| lines.insert(2, lines[0].clone()), vec![reordered]),
        (
            |lines| lines.insert(2, "{\"seq\":3}\n".into()),
            vec![changed],
        ),
    ];
    for (edit, expected) in table {
        let dir = tempfile::tempdir().unwrap();
        fill(&open(dir.path(), 1 << 20), 6);
        let path = log_files(dir.path()).remove(0);
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        edit(&mut lines);
        fs::write(&path, lines.concat()).unwrap();
        let problems = verify(dir.path()).unwrap().problems;
        let kinds: Vec<_> = problems
            .iter()
            .map(|problem| problem.kind.clone())
            .collect();
        assert_eq!(kinds, expected);
    }
}

#[test]
fn without_the_key_a_consistent_rewrite_is_still_seen() {
    let (victim, forger) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for dir in [&victim, &forger] {
        fill(&open(dir.path(), 1 << 20), 6);
    }
    for name in ["audit-00000001.jsonl", "head"] {
        fs::copy(forger.path().join(name), victim.path().join(name)).unwrap();
    }
    let report = verify(victim.path()).unwrap();
    assert_eq!((report.records, report.problems.len()), (0, 7));
    assert!(
        report.problems[1].to_string().ends_with(
            "audit-00000001.jsonl:1: this record was changed or is a forgery (record 1)"
        )
    );
}
