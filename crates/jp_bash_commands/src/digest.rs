//! `md5sum`, `sha1sum` and `sha224sum` to `sha512sum`: digests of files, and checking them.

mod hash;

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{PIECE, Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};
use super::whole::{lines, read_whole};
use hash::{Kind, Sum};

const TAG: char = '\u{200}';
const QUIET: char = '\u{201}';
const STATUS: char = '\u{202}';
const STRICT: char = '\u{203}';
const MISSING: char = '\u{204}';

const OPTIONS: &[Opt] = &[
    opt('b', Some(b'b'), Some("binary"), Takes::Nothing),
    opt('c', Some(b'c'), Some("check"), Takes::Nothing),
    opt(TAG, None, Some("tag"), Takes::Nothing),
    opt('t', Some(b't'), Some("text"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    opt(MISSING, None, Some("ignore-missing"), Takes::Nothing),
    opt(QUIET, None, Some("quiet"), Takes::Nothing),
    opt(STATUS, None, Some("status"), Takes::Nothing),
    opt(STRICT, None, Some("strict"), Takes::Nothing),
    opt('w', Some(b'w'), Some("warn"), Takes::Nothing),
    HELP,
    VERSION,
];

const fn spec(name: &'static str, about: &'static str, run: super::Run) -> Spec {
    Spec {
        name,
        about,
        run,
        options: OPTIONS,
    }
}

/// The commands.
pub(crate) const SPECS: &[Spec] = &[
    spec("md5sum", "Prints or checks MD5 digests.", |sys, args| {
        run(sys, args, Kind::Md5)
    }),
    spec("sha1sum", "Prints or checks SHA-1 digests.", |sys, args| {
        run(sys, args, Kind::Sha1)
    }),
    spec(
        "sha224sum",
        "Prints or checks SHA-224 digests.",
        |sys, args| run(sys, args, Kind::Sha224),
    ),
    spec(
        "sha384sum",
        "Prints or checks SHA-384 digests.",
        |sys, args| run(sys, args, Kind::Sha384),
    ),
    spec(
        "sha256sum",
        "Prints or checks SHA-256 digests.",
        |sys, args| run(sys, args, Kind::Sha256),
    ),
    spec(
        "sha512sum",
        "Prints or checks SHA-512 digests.",
        |sys, args| run(sys, args, Kind::Sha512),
    ),
];

#[derive(Default)]
struct Wanted {
    binary: bool,
    check: bool,
    tag: bool,
    zero: bool,
    quiet: bool,
    status: bool,
    strict: bool,
    warn: bool,
    ignore_missing: bool,
}

fn run(sys: &mut dyn System, args: &[Vec<u8>], kind: Kind) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut wanted = Wanted::default();
    for (id, _) in &parsed.options {
        match *id {
            'b' => wanted.binary = true,
            'c' => wanted.check = true,
            't' => wanted.binary = false,
            'z' => wanted.zero = true,
            'w' => wanted.warn = true,
            TAG => wanted.tag = true,
            QUIET => wanted.quiet = true,
            STATUS => wanted.status = true,
            STRICT => wanted.strict = true,
            MISSING => wanted.ignore_missing = true,
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for file in &files {
        if wanted.check {
            check(&mut cmd, file, kind, &wanted)?;
        } else {
            print(&mut cmd, file, kind, &wanted)?;
        }
    }
    cmd.finish()
}

/// Returns the digest of a file in hexadecimal, or nothing after a message.
fn sum(cmd: &mut Cmd<'_>, file: &[u8], kind: Kind) -> Result<Option<Vec<u8>>, Stop> {
    let done = match failed(Input::open(cmd.sys, file))? {
        Ok(mut input) => {
            let done = sum_of(cmd.sys, &mut input, kind);
            input.close(cmd.sys);
            failed(done)?
        }
        Err(errno) => Err(errno),
    };
    match done {
        Ok(hex) => Ok(Some(hex)),
        Err(errno) => {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)?;
            Ok(None)
        }
    }
}

fn sum_of(sys: &mut dyn System, input: &mut Input, kind: Kind) -> SysResult<Vec<u8>> {
    let mut digest = Sum::new(kind);
    loop {
        let piece = input.fill(sys)?;
        if piece.is_empty() {
            return Ok(digest.finish());
        }
        digest.update(piece);
        let length = piece.len();
        input.consume(length);
        sys.work_bytes(length)?;
    }
}

fn print(cmd: &mut Cmd<'_>, file: &[u8], kind: Kind, wanted: &Wanted) -> Result<(), Stop> {
    let Some(hex) = sum(cmd, file, kind)? else {
        return Ok(());
    };
    let end: &[u8] = if wanted.zero { b"\0" } else { b"\n" };
    let odd = !wanted.zero
        && file
            .iter()
            .any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'));
    let mut name = Vec::with_capacity(file.len());
    for byte in file {
        match byte {
            b'\\' if odd => name.extend_from_slice(b"\\\\"),
            b'\n' if odd => name.extend_from_slice(b"\\n"),
            b'\r' if odd => name.extend_from_slice(b"\\r"),
            byte => name.push(*byte),
        }
    }
    let lead: &[u8] = if odd { b"\\" } else { b"" };
    let text = if wanted.tag {
        [lead, kind.name(), b" (", &name, b") = ", &hex, end].concat()
    } else {
        let mark: &[u8] = if wanted.binary { b" *" } else { b"  " };
        [lead, &hex, mark, &name, end].concat()
    };
    cmd.put(&text)
}

/// Takes a line of a list apart: the digest and the file's name.
fn entry(line: &[u8], kind: Kind) -> Option<(Vec<u8>, Vec<u8>)> {
    let (line, odd) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let (hex, name) = match line
        .strip_prefix(kind.name())
        .and_then(|rest| rest.strip_prefix(b" ("))
    {
        Some(rest) => {
            let at = memchr::memmem::rfind(rest, b") = ")?;
            (rest.get(at + 4..)?, rest.get(..at)?)
        }
        None => {
            let at = memchr::memchr(b' ', line)?;
            let name = line.get(at + 1..)?;
            (
                line.get(..at)?,
                name.strip_prefix(b" ").or(name.strip_prefix(b"*"))?,
            )
        }
    };
    if hex.len() != kind.digits() || !hex.iter().all(u8::is_ascii_hexdigit) || name.is_empty() {
        return None;
    }
    let name = if odd {
        memchr::memmem::find(name, b"\\n").map_or(name.to_vec(), |_| {
            String::from_utf8_lossy(name)
                .replace("\\n", "\n")
                .into_bytes()
        })
    } else {
        name.to_vec()
    };
    Some((hex.to_ascii_lowercase(), name))
}

fn check(cmd: &mut Cmd<'_>, list: &[u8], kind: Kind, wanted: &Wanted) -> Result<(), Stop> {
    let mut held = Held::default();
    let text = match read_whole(cmd.sys, list, &mut held)? {
        Ok(text) => text,
        Err(errno) => {
            let name = cmd.qf(list);
            return cmd.fail(&[&name], errno);
        }
    };
    let shown: &[u8] = if list == b"-" {
        b"'standard input'"
    } else {
        list
    };
    let (mut good, mut bad_lines, mut wrong, mut missing) = (0_u64, 0_u64, 0_u64, 0_u64);
    for (number, line) in lines(&text, b'\n').enumerate() {
        for piece in line.chunks(PIECE) {
            cmd.sys.work_bytes(piece.len())?;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(b"#") {
            continue;
        }
        let Some((hex, name)) = entry(line, kind) else {
            bad_lines += 1;
            if wanted.warn {
                let tail = format!(": {}: improperly formatted ", number + 1);
                cmd.note(&[shown, tail.as_bytes(), kind.name(), b" checksum line"])?;
            }
            continue;
        };
        if wanted.ignore_missing
            && failed(cmd.sys.access(&name, 4))? == Err(jp_bash_system::Errno::NoEnt)
        {
            continue;
        }
        cmd.out.flush(cmd.sys)?;
        match sum(cmd, &name, kind)? {
            None => {
                missing += 1;
                if !wanted.status {
                    cmd.put(&[&name, &b": FAILED open or read\n"[..]].concat())?;
                }
            }
            Some(found) if found == hex => {
                good += 1;
                if !wanted.status && !wanted.quiet {
                    cmd.put(&[&name, &b": OK\n"[..]].concat())?;
                }
            }
            Some(_) => {
                wrong += 1;
                if !wanted.status {
                    cmd.put(&[&name, &b": FAILED\n"[..]].concat())?;
                }
            }
        }
    }
    held.end(cmd.sys);
    cmd.out.flush(cmd.sys)?;
    report(cmd, shown, wanted, [good, bad_lines, wrong, missing])
}

fn report(
    cmd: &mut Cmd<'_>,
    list: &[u8],
    wanted: &Wanted,
    [good, bad_lines, failed, missing]: [u64; 4],
) -> Result<(), Stop> {
    if good + failed + missing == 0 && bad_lines > 0 {
        return cmd.error(&[list, b": no properly formatted checksum lines found"]);
    }
    let mut warn = |count: u64, one: &str, many: &str| {
        if count == 0 || wanted.status {
            return Ok(());
        }
        let text = if count == 1 { one } else { many };
        cmd.note(&[format!("WARNING: {count} {text}").as_bytes()])
    };
    warn(
        bad_lines,
        "line is improperly formatted",
        "lines are improperly formatted",
    )?;
    warn(
        missing,
        "listed file could not be read",
        "listed files could not be read",
    )?;
    warn(
        failed,
        "computed checksum did NOT match",
        "computed checksums did NOT match",
    )?;
    if failed + missing > 0 || (wanted.strict && bad_lines > 0) {
        cmd.status = 1;
    }
    Ok(())
}
