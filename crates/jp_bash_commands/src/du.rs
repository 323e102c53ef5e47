//! `du`: the space that files take.

use std::collections::HashSet;

use jp_bash_system::{FileKind, Follow, Stat, Stop, System, failed};

use super::Spec;
use super::file::glob::Glob;
use super::file::name::{base_name, join};
use super::file::size::{Scale, bad_block_size, block_size_of, blocks, parse_block_size, show};
use super::file::{Cmd, HELP, VERSION};
use super::numbers::{BadNumber, size};
use super::options::{Opt, Parsed, Takes, opt, refused};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "du",
    about: "Tells how much space files take.",
    run,
    options: OPTIONS,
};

const APPARENT: char = '\u{200}';
const EXCLUDE: char = '\u{201}';
const SI: char = '\u{202}';

const OPTIONS: &[Opt] = &[
    opt('0', Some(b'0'), Some("null"), Takes::Nothing),
    opt('a', Some(b'a'), Some("all"), Takes::Nothing),
    opt(APPARENT, None, Some("apparent-size"), Takes::Nothing),
    opt('B', Some(b'B'), Some("block-size"), Takes::Required),
    opt('b', Some(b'b'), Some("bytes"), Takes::Nothing),
    opt('c', Some(b'c'), Some("total"), Takes::Nothing),
    opt('D', Some(b'D'), Some("dereference-args"), Takes::Nothing),
    opt('d', Some(b'd'), Some("max-depth"), Takes::Required),
    refused(
        None,
        Some("files0-from"),
        Takes::Required,
        "names come as operands",
    ),
    opt('D', Some(b'H'), None, Takes::Nothing),
    opt('h', Some(b'h'), Some("human-readable"), Takes::Nothing),
    refused(None, Some("inodes"), Takes::Nothing, "space only"),
    opt('k', Some(b'k'), None, Takes::Nothing),
    opt('L', Some(b'L'), Some("dereference"), Takes::Nothing),
    opt('l', Some(b'l'), Some("count-links"), Takes::Nothing),
    opt('m', Some(b'm'), None, Takes::Nothing),
    opt('P', Some(b'P'), Some("no-dereference"), Takes::Nothing),
    opt('S', Some(b'S'), Some("separate-dirs"), Takes::Nothing),
    opt(SI, None, Some("si"), Takes::Nothing),
    opt('s', Some(b's'), Some("summarize"), Takes::Nothing),
    opt('t', Some(b't'), Some("threshold"), Takes::Required),
    refused(None, Some("time"), Takes::Optional, "space only"),
    refused(None, Some("time-style"), Takes::Required, "space only"),
    refused(
        Some(b'X'),
        Some("exclude-from"),
        Takes::Required,
        "use --exclude",
    ),
    opt(EXCLUDE, None, Some("exclude"), Takes::Required),
    opt('x', Some(b'x'), Some("one-file-system"), Takes::Nothing),
    HELP,
    VERSION,
];

struct Wanted {
    all: bool,
    apparent: bool,
    scale: Scale,
    total: bool,
    follow: Follow,
    follow_operands: Follow,
    depth: Option<usize>,
    summary: bool,
    links: bool,
    separate: bool,
    threshold: i64,
    exclude: Vec<Vec<u8>>,
    end: u8,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            all: false,
            apparent: false,
            scale: Scale::Blocks(1024, ""),
            total: false,
            follow: Follow::No,
            follow_operands: Follow::No,
            depth: None,
            summary: false,
            links: false,
            separate: false,
            threshold: 0,
            exclude: Vec::new(),
            end: b'\n',
        }
    }
}

/// Runs `du`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Some(mut wanted) = read(&mut cmd, args, &parsed)? else {
        return cmd.finish();
    };
    if wanted.summary && wanted.all {
        return cmd.usage(&[b"cannot both summarize and show all entries"]);
    }
    if wanted.summary {
        match wanted.depth {
            Some(0) => cmd.note(&[b"warning: summarizing is the same as using --max-depth=0"])?,
            Some(depth) => {
                let text = format!("warning: summarizing conflicts with --max-depth={depth}");
                return cmd.usage(&[text.as_bytes()]);
            }
            None => wanted.depth = Some(0),
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b".".to_vec());
    }
    let mut seen = HashSet::new();
    let mut total = 0;
    for file in &files {
        total += walk(&mut cmd, file, &wanted, &mut seen)?;
    }
    if wanted.total {
        line(&mut cmd, total, b"total", &wanted)?;
    }
    cmd.finish()
}

/// Reads the options; nothing after a message.
fn read(cmd: &mut Cmd<'_>, args: &[Vec<u8>], parsed: &Parsed) -> Result<Option<Wanted>, Stop> {
    let mut wanted = Wanted::default();
    if let Some(scale) = block_size_of(|name| cmd.sys.env(name), b"DU_BLOCK_SIZE") {
        wanted.scale = scale;
    }
    for (id, value) in &parsed.options {
        let text = value.as_deref().unwrap_or_default();
        match *id {
            '0' => wanted.end = 0,
            'a' => wanted.all = true,
            APPARENT => wanted.apparent = true,
            'b' => {
                wanted.apparent = true;
                wanted.scale = Scale::Blocks(1, "");
            }
            'c' => wanted.total = true,
            'D' => wanted.follow_operands = Follow::Yes,
            'h' => wanted.scale = Scale::Human(1024),
            SI => wanted.scale = Scale::Human(1000),
            'k' => wanted.scale = Scale::Blocks(1024, ""),
            'm' => wanted.scale = Scale::Blocks(1 << 20, ""),
            'L' => (wanted.follow, wanted.follow_operands) = (Follow::Yes, Follow::Yes),
            'P' => (wanted.follow, wanted.follow_operands) = (Follow::No, Follow::No),
            'l' => wanted.links = true,
            'S' => wanted.separate = true,
            's' => wanted.summary = true,
            EXCLUDE => wanted.exclude.push(text.to_vec()),
            'B' => match parse_block_size(text) {
                Some(scale) => wanted.scale = scale,
                None => {
                    let message = bad_block_size(spelled(args, b"-B", b"--block-size"), text);
                    cmd.error(&[&message])?;
                    return Ok(None);
                }
            },
            't' => match threshold(text) {
                Ok(threshold) => wanted.threshold = threshold,
                Err(bad) => {
                    let message = bad.of_option(spelled(args, b"-t", b"--threshold"), text);
                    cmd.error(&[&message])?;
                    return Ok(None);
                }
            },
            'd' => match size(text, b"").map(usize::try_from) {
                Ok(Ok(depth)) => wanted.depth = Some(depth),
                _ => {
                    let shown = cmd.quote(text);
                    cmd.error(&[b"invalid maximum depth ", &shown])?;
                    cmd.hint()?;
                    return Ok(None);
                }
            },
            _ => {}
        }
    }
    Ok(Some(wanted))
}

/// Reads the size below which, or with a minus above which, nothing is shown.
fn threshold(text: &[u8]) -> Result<i64, BadNumber> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let number = size(digits, b"kKmMGTPEZY0")?;
    let number = i64::try_from(number).map_err(|_| BadNumber::Overflow)?;
    match (negative, number) {
        (true, 0) => Err(BadNumber::Invalid),
        (true, number) => Ok(-number),
        (false, number) => Ok(number),
    }
}

/// Returns the spelling of an option that was used last, for its message.
fn spelled<'n>(args: &[Vec<u8>], short: &'n [u8], long: &'n [u8]) -> &'n [u8] {
    let begins = |arg: &Vec<u8>| {
        let name = arg.split(|byte| *byte == b'=').next().unwrap_or_default();
        name.len() > 2 && long.starts_with(name)
    };
    if args.iter().any(begins) { long } else { short }
}

/// A directory being walked: its path, what it and its files take, and the names still to come.
struct Open {
    path: Vec<u8>,
    own: u64,
    below: u64,
    names: std::vec::IntoIter<Vec<u8>>,
}

/// Adds up a tree and prints its directories; returns the whole. Walks with a list of its own, not the stack.
fn walk(
    cmd: &mut Cmd<'_>,
    root: &[u8],
    wanted: &Wanted,
    seen: &mut HashSet<(u64, u64)>,
) -> Result<u64, Stop> {
    let mut open: Vec<Open> = Vec::new();
    let mut next = Some(root.to_vec());
    loop {
        if let Some(path) = next.take() {
            cmd.sys.turns(1)?;
            let follow = if open.is_empty() {
                wanted.follow_operands
            } else {
                wanted.follow
            };
            match enter(cmd, &path, follow, wanted, seen)? {
                Some((size, Some(names))) => open.push(Open {
                    path,
                    own: size,
                    below: 0,
                    names: names.into_iter(),
                }),
                Some((size, None)) => {
                    let depth = open.len();
                    if depth == 0 || (wanted.all && wanted.depth.is_none_or(|most| depth <= most)) {
                        line(cmd, size, &path, wanted)?;
                    }
                    match open.last_mut() {
                        Some(parent) => parent.own += size,
                        None => return Ok(size),
                    }
                }
                None if open.is_empty() => return Ok(0),
                None => {}
            }
        }
        let Some(top) = open.last_mut() else {
            return Ok(0);
        };
        if let Some(name) = top.names.next() {
            next = Some(join(&top.path, &name));
            continue;
        }
        let Some(done) = open.pop() else { return Ok(0) };
        let whole = done.own + done.below;
        let depth = open.len();
        if wanted.depth.is_none_or(|most| depth <= most) {
            let shown = if wanted.separate { done.own } else { whole };
            line(cmd, shown, &done.path, wanted)?;
        }
        match open.last_mut() {
            Some(parent) => parent.below += whole,
            None => return Ok(whole),
        }
    }
}

/// What a file takes, and the names below it if it is a directory.
type Entered = Option<(u64, Option<Vec<Vec<u8>>>)>;

/// Looks at a file; nothing if it was seen before, is excluded, or after a message.
fn enter(
    cmd: &mut Cmd<'_>,
    path: &[u8],
    follow: Follow,
    wanted: &Wanted,
    seen: &mut HashSet<(u64, u64)>,
) -> Result<Entered, Stop> {
    let name = base_name(path);
    let glob = Glob {
        utf8: cmd.sys.utf8(),
        fold_case: false,
        period: false,
    };
    let excluded = |pattern: &Vec<u8>| glob.matches(pattern, name) || glob.matches(pattern, path);
    if wanted.exclude.iter().any(excluded) {
        return Ok(None);
    }
    let stat = match failed(cmd.sys.stat(path, follow))? {
        Ok(stat) => stat,
        Err(errno) => {
            let shown = cmd.q(path);
            cmd.fail(&[b"cannot access ", &shown], errno)?;
            return Ok(None);
        }
    };
    if !wanted.links || stat.kind == FileKind::Directory {
        cmd.sys.reserve(32)?;
        if !seen.insert((stat.dev, stat.ino)) {
            return Ok(None);
        }
    }
    let size = weight(&stat, wanted);
    if stat.kind != FileKind::Directory {
        return Ok(Some((size, None)));
    }
    match failed(cmd.sys.read_dir(path))? {
        Ok(entries) => {
            let names = entries.into_iter().map(|entry| entry.name);
            let names = names.filter(|name| name != b"." && name != b"..").collect();
            Ok(Some((size, Some(names))))
        }
        Err(errno) => {
            let shown = cmd.q(path);
            cmd.fail(&[b"cannot read directory ", &shown], errno)?;
            Ok(Some((size, Some(Vec::new()))))
        }
    }
}

fn weight(stat: &Stat, wanted: &Wanted) -> u64 {
    if wanted.apparent {
        stat.size
    } else {
        blocks(stat).saturating_mul(512)
    }
}

fn line(cmd: &mut Cmd<'_>, bytes: u64, name: &[u8], wanted: &Wanted) -> Result<(), Stop> {
    let signed = i64::try_from(bytes).unwrap_or(i64::MAX);
    let hidden = match wanted.threshold {
        0 => false,
        least @ 1.. => signed < least,
        most => signed > -most,
    };
    if hidden {
        return Ok(());
    }
    let text = show(bytes, wanted.scale);
    cmd.put(&[text.as_bytes(), b"\t", name, &[wanted.end]].concat())
}
