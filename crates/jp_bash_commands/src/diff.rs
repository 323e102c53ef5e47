//! `diff`: how two files or directories differ, in the normal or the unified form.

mod edit;
mod show;

use std::borrow::Cow;

use jp_bash_system::io::Held;
use jp_bash_system::{Errno, FileKind, Follow, PIECE, Stop, System, failed};
use rustc_hash::FxHashMap;

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Takes, opt, refused};
use super::pace;
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "diff",
    about: "Shows how files differ.",
    run,
    options: OPTIONS,
};

const LABEL: char = '\u{200}';
const COLOR: char = '\u{201}';
const NORMAL: char = '\u{202}';

const OPTIONS: &[Opt] = &[
    opt(NORMAL, None, Some("normal"), Takes::Nothing),
    opt('q', Some(b'q'), Some("brief"), Takes::Nothing),
    opt(
        's',
        Some(b's'),
        Some("report-identical-files"),
        Takes::Nothing,
    ),
    opt('u', Some(b'u'), None, Takes::Nothing),
    opt('U', Some(b'U'), None, Takes::Required),
    opt('U', None, Some("unified"), Takes::Optional),
    opt(LABEL, None, Some("label"), Takes::Required),
    opt('r', Some(b'r'), Some("recursive"), Takes::Nothing),
    opt('N', Some(b'N'), Some("new-file"), Takes::Nothing),
    opt('i', Some(b'i'), Some("ignore-case"), Takes::Nothing),
    opt('b', Some(b'b'), Some("ignore-space-change"), Takes::Nothing),
    opt('w', Some(b'w'), Some("ignore-all-space"), Takes::Nothing),
    opt('B', Some(b'B'), Some("ignore-blank-lines"), Takes::Nothing),
    opt('a', Some(b'a'), Some("text"), Takes::Nothing),
    opt('d', Some(b'd'), Some("minimal"), Takes::Nothing),
    opt(COLOR, None, Some("color"), Takes::Optional),
    refused(
        Some(b'c'),
        None,
        Takes::Nothing,
        "no context form; -u is there",
    ),
    refused(Some(b'e'), Some("ed"), Takes::Nothing, "no ed scripts"),
    refused(
        Some(b'y'),
        Some("side-by-side"),
        Takes::Nothing,
        "no columns",
    ),
    HELP,
    VERSION,
];

/// What the options asked for.
#[derive(Default)]
pub(super) struct Wanted {
    unified: Option<usize>,
    brief: bool,
    same: bool,
    recursive: bool,
    new_file: bool,
    ignore_case: bool,
    space_change: bool,
    all_space: bool,
    blank_lines: bool,
    labels: Vec<Vec<u8>>,
    text: bool,
    color: bool,
    /// The options as given, for the lines `diff -r a/x b/x`.
    flags: Vec<u8>,
}

/// Runs `diff`: 0 the same, 1 different, 2 trouble.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILES")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut wanted = Wanted::default();
    let mut normal = false;
    for (id, value) in parsed.options {
        match id {
            NORMAL => normal = true,
            'a' => wanted.text = true,
            COLOR => match value.as_deref() {
                None | Some(b"auto" | b"never") => wanted.color = false,
                Some(b"always") => wanted.color = true,
                Some(other) => {
                    let shown = [b"'", other, b"'"].concat();
                    return cmd.usage(&[b"invalid color ", &shown]);
                }
            },
            'q' => wanted.brief = true,
            's' => wanted.same = true,
            'u' => wanted.unified = Some(usize::max(wanted.unified.unwrap_or(3), 3)),
            'U' => {
                let text = value.unwrap_or_else(|| b"3".to_vec());
                // GNU reads nothing as none, and takes the largest of all numbers given.
                let number = match size(&text, b"") {
                    Ok(number) => usize::try_from(number).unwrap_or(usize::MAX),
                    Err(BadNumber::Overflow) => usize::MAX,
                    Err(_) if text.is_empty() => 0,
                    Err(_) => {
                        let shown = [b"'", text.as_slice(), b"'"].concat();
                        return cmd.usage(&[b"invalid context length ", &shown]);
                    }
                };
                wanted.unified = Some(usize::max(wanted.unified.unwrap_or(0), number));
            }
            'r' => wanted.recursive = true,
            'N' => wanted.new_file = true,
            'i' => wanted.ignore_case = true,
            'b' => wanted.space_change = true,
            'w' => wanted.all_space = true,
            'B' => wanted.blank_lines = true,
            LABEL => wanted.labels.extend(value),
            _ => {}
        }
    }
    if normal && wanted.unified.is_some() {
        return cmd.usage(&[b"conflicting output style options"]);
    }
    for arg in args.iter().skip(1) {
        if arg.starts_with(b"-") && arg.len() > 1 {
            wanted.flags.extend_from_slice(arg);
            wanted.flags.push(b' ');
        }
    }
    let [first, second] = parsed.operands.as_slice() else {
        return match parsed.operands.get(2) {
            Some(extra) => {
                let shown = cmd.q(extra);
                cmd.usage(&[b"extra operand ", &shown])
            }
            None => {
                let last = args.last().cloned().unwrap_or_default();
                let shown = cmd.q(&last);
                cmd.usage(&[b"missing operand after ", &shown])
            }
        };
    };
    let mut status = pair(&mut cmd, &wanted, first, second)?;
    if cmd.status == 2 {
        status = 2;
    }
    cmd.status = status;
    cmd.finish()
}

fn kind(cmd: &mut Cmd<'_>, path: &[u8]) -> Result<Result<FileKind, Errno>, Stop> {
    if path == b"-" {
        return Ok(Ok(FileKind::Regular));
    }
    Ok(failed(cmd.sys.stat(path, Follow::Yes))?.map(|stat| stat.kind))
}

/// Compares two operands.
fn pair(cmd: &mut Cmd<'_>, wanted: &Wanted, first: &[u8], second: &[u8]) -> Result<i32, Stop> {
    let kinds = [kind(cmd, first)?, kind(cmd, second)?];
    let mut trouble = false;
    for (kind, path) in kinds.iter().zip([first, second]) {
        if let Err(errno) = kind
            && !(wanted.new_file && *errno == Errno::NoEnt)
        {
            let name = cmd.qf(path);
            cmd.fail(&[&name], *errno)?;
            trouble = true;
        }
    }
    if trouble {
        return Ok(2);
    }
    let base = |path: &[u8]| {
        path.rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or(path)
            .to_vec()
    };
    match kinds {
        [Ok(FileKind::Directory), Ok(FileKind::Directory)] => {
            directories(cmd, wanted, first, second, 0)
        }
        [Ok(FileKind::Directory), _] => {
            let inner = [first, b"/", &base(second)].concat();
            files(cmd, wanted, &inner, second)
        }
        [_, Ok(FileKind::Directory)] => {
            let inner = [second, b"/", &base(first)].concat();
            files(cmd, wanted, first, &inner)
        }
        _ => files(cmd, wanted, first, second),
    }
}

/// Directories within directories, at most.
const MAX_DEPTH: u32 = 100;

fn directories(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    first: &[u8],
    second: &[u8],
    depth: u32,
) -> Result<i32, Stop> {
    let mut names = std::collections::BTreeMap::new();
    for (side, path) in [first, second].into_iter().enumerate() {
        match failed(cmd.sys.read_dir(path))? {
            Ok(entries) => {
                for entry in entries {
                    names.entry(entry.name).or_insert([false; 2])[side] = true;
                }
            }
            Err(errno) => {
                let name = cmd.qf(path);
                cmd.fail(&[&name], errno)?;
                return Ok(2);
            }
        }
    }
    let mut status = 0;
    for (name, [in_first, in_second]) in names {
        let left = [first, b"/", &name].concat();
        let right = [second, b"/", &name].concat();
        if (!in_first || !in_second) && !wanted.new_file {
            let dir = if in_first { first } else { second };
            cmd.put(&[&b"Only in "[..], dir, b": ", &name, b"\n"].concat())?;
            status = i32::max(status, 1);
            continue;
        }
        let kinds = [kind(cmd, &left)?, kind(cmd, &right)?];
        let done = match kinds {
            [Ok(FileKind::Directory), Ok(FileKind::Directory)] if wanted.recursive => {
                if depth >= MAX_DEPTH {
                    cmd.error(&[&left, b": nested too deeply"])?;
                    2
                } else {
                    directories(cmd, wanted, &left, &right, depth + 1)?
                }
            }
            [Ok(FileKind::Directory), Ok(FileKind::Directory)] => {
                let text = [
                    &b"Common subdirectories: "[..],
                    &left,
                    b" and ",
                    &right,
                    b"\n",
                ];
                cmd.put(&text.concat())?;
                0
            }
            [Ok(FileKind::Directory), Ok(_)] | [Ok(_), Ok(FileKind::Directory)] => {
                let word = |kind: &Result<FileKind, Errno>| match kind {
                    Ok(FileKind::Directory) => &b"directory"[..],
                    _ => b"regular file",
                };
                let [a, b] = &kinds;
                let text = [
                    &b"File "[..],
                    &left,
                    b" is a ",
                    word(a),
                    b" while file ",
                    &right,
                    b" is a ",
                    word(b),
                    b"\n",
                ];
                cmd.put(&text.concat())?;
                1
            }
            _ => in_directory(cmd, wanted, &left, &right)?,
        };
        status = i32::max(status, done);
    }
    Ok(status)
}

/// Compares two files of directories: their differences follow a line that says what is compared.
fn in_directory(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    left: &[u8],
    right: &[u8],
) -> Result<i32, Stop> {
    if !wanted.brief {
        let header = [&b"diff "[..], &wanted.flags, left, b" ", right, b"\n"].concat();
        return compare(cmd, wanted, left, right, &header);
    }
    compare(cmd, wanted, left, right, b"")
}

fn files(cmd: &mut Cmd<'_>, wanted: &Wanted, left: &[u8], right: &[u8]) -> Result<i32, Stop> {
    compare(cmd, wanted, left, right, b"")
}

fn compare(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    left: &[u8],
    right: &[u8],
    header: &[u8],
) -> Result<i32, Stop> {
    let mut held = Held::default();
    let mut texts = Vec::new();
    for path in [left, right] {
        match read_whole(cmd.sys, path, &mut held)? {
            Ok(text) => texts.push(text),
            Err(Errno::NoEnt) if wanted.new_file => texts.push(Vec::new()),
            Err(errno) => {
                let name = cmd.qf(path);
                cmd.fail(&[&name], errno)?;
                held.end(cmd.sys);
                return Ok(2);
            }
        }
    }
    let status = match texts.as_slice() {
        [a, b] => texts_differ(cmd, wanted, (left, a), (right, b), header, &mut held)?,
        _ => 2,
    };
    held.end(cmd.sys);
    Ok(status)
}

fn texts_differ(
    cmd: &mut Cmd<'_>,
    wanted: &Wanted,
    (left, a): (&[u8], &[u8]),
    (right, b): (&[u8], &[u8]),
    header: &[u8],
    held: &mut Held,
) -> Result<i32, Stop> {
    let same = |cmd: &mut Cmd<'_>| {
        if wanted.same {
            cmd.put(&[&b"Files "[..], left, b" and ", right, b" are identical\n"].concat())?;
        }
        Ok(0)
    };
    if pace::same(cmd.sys, a, b, false)? {
        return same(cmd);
    }
    let binary = |text: &[u8]| !wanted.text && text.iter().take(4096).any(|byte| *byte == 0);
    if binary(a) || binary(b) {
        let word: &[u8] = if wanted.brief {
            b"Files "
        } else {
            b"Binary files "
        };
        cmd.put(&[word, left, b" and ", right, b" differ\n"].concat())?;
        return Ok(1);
    }
    let old = pace::lines(cmd.sys, held, a, b'\n')?;
    let new = pace::lines(cmd.sys, held, b, b'\n')?;
    let mut numbers = Numbers::default();
    let (left_numbers, right_numbers) = (
        numbers.of(cmd.sys, held, wanted, &old)?,
        numbers.of(cmd.sys, held, wanted, &new)?,
    );
    let changes = edit::changes(cmd.sys, &left_numbers, &right_numbers)?;
    let changes = if wanted.blank_lines {
        let blank = |lines: &[&[u8]]| lines.iter().all(|line| line.trim_ascii().is_empty());
        changes
            .into_iter()
            .filter(|change| {
                !(blank(old.get(change.old.clone()).unwrap_or_default())
                    && blank(new.get(change.new.clone()).unwrap_or_default()))
            })
            .collect()
    } else {
        changes
    };
    if changes.is_empty() {
        return same(cmd);
    }
    if wanted.brief {
        cmd.put(&[&b"Files "[..], left, b" and ", right, b" differ\n"].concat())?;
        return Ok(1);
    }
    cmd.put(header)?;
    match wanted.unified {
        Some(context) => {
            show::unified(cmd, wanted, [left, right], [&old, &new], &changes, context)?
        }
        None => show::normal(cmd, wanted, [&old, &new], &changes)?,
    }
    Ok(1)
}

/// Numbers lines so that those that count as equal have the same number.
#[derive(Default)]
struct Numbers<'t> {
    known: FxHashMap<Cow<'t, [u8]>, u32>,
}

impl<'t> Numbers<'t> {
    fn of(
        &mut self,
        sys: &mut dyn System,
        held: &mut Held,
        wanted: &Wanted,
        lines: &[&'t [u8]],
    ) -> Result<Vec<u32>, Stop> {
        let mut numbers = Vec::new();
        held.room(sys, &mut numbers, lines.len())?;
        for line in lines {
            for piece in line.chunks(PIECE) {
                sys.work_bytes(piece.len())?;
            }
            if wanted.changes_lines() {
                held.more(sys, line.len())?;
            }
            let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            let known = self.known.len();
            let number = *self.known.entry(key(wanted, line)).or_insert(next);
            if self.known.len() > known {
                // A place in the table, which is at worst half empty while it grows.
                held.more(sys, 3 * size_of::<(Cow<'_, [u8]>, u32)>())?;
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

impl Wanted {
    /// Tells whether lines are compared in another form than their own.
    fn changes_lines(&self) -> bool {
        self.all_space || self.space_change || self.ignore_case
    }
}

/// Returns what of a line is compared.
fn key<'t>(wanted: &Wanted, line: &'t [u8]) -> Cow<'t, [u8]> {
    if !wanted.changes_lines() {
        return Cow::Borrowed(line);
    }
    let mut key = Vec::with_capacity(line.len());
    if wanted.all_space {
        key.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
    } else if wanted.space_change {
        for byte in line.trim_ascii_end() {
            let blank = byte.is_ascii_whitespace();
            if !(blank && key.last() == Some(&b' ')) {
                key.push(if blank { b' ' } else { *byte });
            }
        }
    } else {
        key.extend_from_slice(line);
    }
    if wanted.ignore_case {
        key.make_ascii_lowercase();
    }
    Cow::Owned(key)
}
