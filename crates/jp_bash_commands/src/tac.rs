//! `tac`: lines in reverse order.

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt, refused};
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "tac",
    about: "Prints each file with its lines in reverse order.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("before"), Takes::Nothing),
    refused(
        Some(b'r'),
        Some("regex"),
        Takes::Nothing,
        "the separator is plain text only",
    ),
    opt('s', Some(b's'), Some("separator"), Takes::Required),
    HELP,
    VERSION,
];

/// Runs `tac`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut separator = b"\n".to_vec();
    let mut before = false;
    for (id, value) in parsed.options {
        match id {
            'b' => before = true,
            // An empty separator is a NUL.
            's' => separator = value.filter(|value| !value.is_empty()).unwrap_or(vec![0]),
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for file in &files {
        let mut held = Held::default();
        match read_whole(cmd.sys, file, &mut held)? {
            Ok(text) => reverse(&mut cmd, &text, &separator, before)?,
            Err(jp_bash_system::Errno::IsDir) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name, b": read error"], jp_bash_system::Errno::IsDir)?;
            }
            Err(errno) => {
                let name = cmd.q(file);
                cmd.fail(&[b"failed to open ", &name, b" for reading"], errno)?;
            }
        }
        held.end(cmd.sys);
    }
    cmd.finish()
}

/// Prints the records from the last to the first, each with its separator where it stood.
fn reverse(cmd: &mut Cmd<'_>, text: &[u8], separator: &[u8], before: bool) -> Result<(), Stop> {
    let mut end = text.len();
    let finder = memchr::memmem::FinderRev::new(separator);
    let mut found = last_before(cmd, text, &finder, text.len())?;
    if !before && found.is_some_and(|at| at + separator.len() == text.len()) {
        found = last_before(cmd, text, &finder, found.unwrap_or(0))?;
    }
    while let Some(at) = found {
        let cut = if before { at } else { at + separator.len() };
        cmd.put(text.get(cut..end).unwrap_or_default())?;
        cmd.sys.work(1)?;
        end = cut;
        found = last_before(cmd, text, &finder, at)?;
    }
    cmd.put(text.get(..end).unwrap_or_default())
}

/// Finds the last separator that ends at `end` or before, a piece at a time.
fn last_before(
    cmd: &mut Cmd<'_>,
    text: &[u8],
    finder: &memchr::memmem::FinderRev<'_>,
    mut end: usize,
) -> Result<Option<usize>, Stop> {
    let length = finder.needle().len();
    loop {
        let step = usize::max(PIECE, length.saturating_mul(2));
        let start = end.saturating_sub(step);
        let piece = text.get(start..end).unwrap_or_default();
        if let Some(at) = finder.rfind(piece) {
            return Ok(Some(start + at));
        }
        if start == 0 {
            return Ok(None);
        }
        cmd.sys.work_bytes(usize::min(step, PIECE))?;
        // A separator may lie across the border.
        end = start + length - 1;
    }
}
