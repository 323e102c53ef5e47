//! What an apply is about to do, as a file: enough to undo it, or to see that it was done.
//!
//! Text, one step in each line, with a digest at its end. Paths are percent-encoded; none leaves the directory.

use jp_bash_system::Timestamp;
use sha2::{Digest, Sha256};

use super::AREA;
use super::survey::Print;

const HEAD: &str = "jp-apply 1";

/// Everything that is going to change, in this order; undone in the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::vfs) struct Journal {
    /// The inodes of the directory and of the staging area: a copied journal is not obeyed.
    pub(in crate::vfs) root: u64,
    pub(in crate::vfs) area: u64,
    /// Directories that must be opened first.
    pub(in crate::vfs) opening: Vec<Marking>,
    pub(in crate::vfs) switches: Vec<Switch>,
    /// Modes and times that are set last.
    pub(in crate::vfs) closing: Vec<Marking>,
}

/// One path whose tree is exchanged for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vfs) struct Switch {
    /// The name in the staging area.
    pub(in crate::vfs) slot: u32,
    pub(in crate::vfs) path: Vec<u8>,
    pub(in crate::vfs) old: Option<Print>,
    pub(in crate::vfs) new: Option<Print>,
}

/// One path whose mode or time is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vfs) struct Marking {
    pub(in crate::vfs) path: Vec<u8>,
    pub(in crate::vfs) ino: u64,
    pub(in crate::vfs) from: Marks,
    pub(in crate::vfs) to: Marks,
}

/// A mode, which a link has not, and a time, which is not set for directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vfs) struct Marks {
    pub(in crate::vfs) mode: Option<u32>,
    pub(in crate::vfs) mtime: Option<Timestamp>,
}

impl Journal {
    /// Writes it down.
    pub(in crate::vfs) fn to_text(&self) -> Vec<u8> {
        let mut text = format!("{HEAD}\nroot {} {}\n", self.root, self.area);
        for marking in &self.opening {
            text.push_str(&marking_line("open", marking));
        }
        for switch in &self.switches {
            text.push_str(&format!(
                "switch {} {} {} {}\n",
                switch.slot,
                print_word(switch.old.as_ref()),
                print_word(switch.new.as_ref()),
                encode(&switch.path)
            ));
        }
        for marking in &self.closing {
            text.push_str(&marking_line("close", marking));
        }
        let digest = hex(&Sha256::digest(text.as_bytes()));
        text.push_str(&format!("end {digest}\n"));
        text.into_bytes()
    }

    /// Reads it; `None` if it is not one of ours, whole and unchanged.
    pub(in crate::vfs) fn from_text(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let digest = hex(&Sha256::digest(format!("{body}\n").as_bytes()));
        if end.strip_prefix("end ")? != digest {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != HEAD {
            return None;
        }
        let mut journal = Self::default();
        let mut words = lines.next()?.strip_prefix("root ")?.split(' ');
        journal.root = words.next()?.parse().ok()?;
        journal.area = words.next()?.parse().ok()?;
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            match kind {
                "open" => journal.opening.push(marking(rest)?),
                "close" => journal.closing.push(marking(rest)?),
                "switch" => journal.switches.push(switch(rest)?),
                _ => return None,
            }
        }
        Some(journal)
    }
}

fn switch(text: &str) -> Option<Switch> {
    let mut words = text.split(' ');
    let found = Switch {
        slot: words.next()?.parse().ok()?,
        old: print(words.next()?)?,
        new: print(words.next()?)?,
        path: decode(words.next()?).filter(|path| is_inside(path))?,
    };
    words.next().is_none().then_some(found)
}

fn marking_line(kind: &str, marking: &Marking) -> String {
    format!(
        "{kind} {} {} {} {}\n",
        marking.ino,
        marks_word(marking.from),
        marks_word(marking.to),
        encode(&marking.path)
    )
}

fn marking(text: &str) -> Option<Marking> {
    let mut words = text.split(' ');
    let found = Marking {
        ino: words.next()?.parse().ok()?,
        from: marks(words.next()?)?,
        to: marks(words.next()?)?,
        // The directory itself has the empty path.
        path: decode(words.next()?).filter(|path| path.is_empty() || is_inside(path))?,
    };
    words.next().is_none().then_some(found)
}

fn marks_word(marks: Marks) -> String {
    let mode = marks
        .mode
        .map_or("-".to_owned(), |mode| format!("{mode:o}"));
    let time = marks.mtime.map_or("-".to_owned(), |time| {
        format!("{}.{}", time.secs, time.nanos)
    });
    format!("{mode}/{time}")
}

fn marks(word: &str) -> Option<Marks> {
    let (mode, time) = word.split_once('/')?;
    let mode = match mode {
        "-" => None,
        mode => Some(
            u32::from_str_radix(mode, 8)
                .ok()
                .filter(|mode| *mode <= 0o7777)?,
        ),
    };
    let mtime = match time {
        "-" => None,
        time => {
            let (secs, nanos) = time.split_once('.')?;
            Some(Timestamp {
                secs: secs.parse().ok()?,
                nanos: nanos.parse().ok().filter(|nanos| *nanos < 1_000_000_000)?,
            })
        }
    };
    Some(Marks { mode, mtime })
}

fn print_word(print: Option<&Print>) -> String {
    print.map_or("-".to_owned(), |print| {
        format!("{}:{}", print.ino, hex(&print.digest))
    })
}

/// Reads a print; the outer `None` is an error.
fn print(word: &str) -> Option<Option<Print>> {
    if word == "-" {
        return Some(None);
    }
    let (ino, digest) = word.split_once(':')?;
    let mut bytes = [0; 32];
    if digest.len() != 64 || !digest.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(digest.get(at..at + 2)?, 16).ok()?;
    }
    Some(Some(Print {
        ino: ino.parse().ok()?,
        digest: bytes,
    }))
}

/// Tells whether a path names something inside the directory, and nothing of the staging area.
fn is_inside(path: &[u8]) -> bool {
    !path.contains(&0)
        && path
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b"..") && part != AREA)
}

fn encode(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len() + 1);
    // An empty word would not be seen.
    out.push('/');
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                out.push(char::from(*byte));
            }
            byte => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

fn decode(word: &str) -> Option<Vec<u8>> {
    let mut rest = word.strip_prefix('/')?.as_bytes();
    let mut path = Vec::with_capacity(rest.len());
    while let [first, later @ ..] = rest {
        if *first != b'%' {
            path.push(*first);
            rest = later;
            continue;
        }
        let digits = std::str::from_utf8(later.get(..2)?).ok()?;
        path.push(u8::from_str_radix(digits, 16).ok()?);
        rest = later.get(2..)?;
    }
    Some(path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let print = |ino| Print {
            ino,
            digest: [7; 32],
        };
        let marks = |mode, secs| Marks {
            mode,
            mtime: Some(Timestamp { secs, nanos: 5 }),
        };
        let marking = |path: &[u8]| Marking {
            path: path.to_vec(),
            ino: 9,
            from: marks(Some(0o4755), -1),
            to: Marks {
                mode: None,
                mtime: None,
            },
        };
        Journal {
            root: 1,
            area: 2,
            opening: vec![marking(b"")],
            switches: vec![
                Switch {
                    slot: 0,
                    path: b"a b/\xff\n%".to_vec(),
                    old: Some(print(3)),
                    new: None,
                },
                Switch {
                    slot: 1,
                    path: b"x".to_vec(),
                    old: None,
                    new: Some(print(4)),
                },
            ],
            closing: vec![marking(b"d/e")],
        }
    }

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let journal = journal();
        assert_eq!(Journal::from_text(&journal.to_text()), Some(journal));
    }

    #[test]
    fn a_journal_that_is_cut_changed_or_leads_outside_is_not_obeyed() {
        let text = journal().to_text();
        for end in 0..text.len() {
            assert_eq!(Journal::from_text(&text[..end]), None, "{end}");
        }
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            assert_eq!(Journal::from_text(&changed), None, "{at}");
        }
        for path in [
            "..",
            "a/../b",
            "/etc",
            "a//b",
            "",
            ".jp-apply/x",
            "a/.jp-apply",
        ] {
            let mut journal = journal();
            journal.switches[1].path = path.into();
            assert_eq!(Journal::from_text(&journal.to_text()), None, "{path}");
        }
    }
}
