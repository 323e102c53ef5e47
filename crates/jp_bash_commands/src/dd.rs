//! `dd`: blocks from one file to another.

mod call;

use std::time::Duration;

use jp_bash_system::io::say;
use jp_bash_system::{Errno, Fd, OpenHow, Stop, SysError, System, Whence, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::Opt;
use call::{Call, Report};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "dd",
    about: "Copies blocks of bytes, and may convert them.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[HELP, VERSION];

/// What was copied: whole and partial blocks, and bytes.
#[derive(Default)]
struct Counts {
    input: [u64; 2],
    output: [u64; 2],
    bytes: u64,
}

/// Runs `dd`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPERAND]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Some(call) = call::read(&mut cmd, &parsed.operands)? else {
        return Ok(1);
    };
    let held = call.ibs.saturating_add(call.obs);
    cmd.sys.reserve(held)?;
    let status = copy(&mut cmd, &call)?;
    cmd.sys.release(held);
    Ok(status)
}

fn copy(cmd: &mut Cmd<'_>, call: &Call) -> Result<i32, Stop> {
    let input = match &call.input {
        None => 0,
        Some(path) => match failed(cmd.sys.open(path, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => return cannot_open(cmd, path, errno),
        },
    };
    let output = match &call.output {
        None => 1,
        Some(path) => {
            let how = OpenHow {
                create: !call.no_create,
                exclusive: call.exclusive,
                truncate: !call.no_truncate && call.seek == 0,
                append: call.append,
                ..OpenHow::WRITE
            };
            match failed(cmd.sys.open(path, how))? {
                Ok(fd) => fd,
                Err(errno) => return cannot_open(cmd, path, errno),
            }
        }
    };
    let start = cmd.sys.since_start();
    let mut counts = Counts::default();
    let done = match place(cmd, call, input, output)? {
        Ok(()) => blocks(cmd, call, input, output, &mut counts),
        Err(errno) => Err(SysError::Errno(errno)),
    };
    let status = match failed(done)? {
        Ok(()) => 0,
        Err(errno) => {
            let name = cmd.q(call.input.as_deref().unwrap_or(b"standard input"));
            cmd.fail(&[b"error reading ", &name], errno)?;
            1
        }
    };
    let time = cmd.sys.since_start().saturating_sub(start);
    report(cmd, call.report, &counts, time)?;
    for fd in [input, output] {
        if fd > 2 {
            cmd.sys.close(fd);
        }
    }
    Ok(status)
}

fn cannot_open(cmd: &mut Cmd<'_>, path: &[u8], errno: Errno) -> Result<i32, Stop> {
    let name = cmd.q(path);
    cmd.fail(&[b"failed to open ", &name], errno)?;
    Ok(1)
}

/// Passes over what `skip=` and `seek=` leave out.
fn place(cmd: &mut Cmd<'_>, call: &Call, input: Fd, output: Fd) -> Result<Result<(), Errno>, Stop> {
    if call.seek > 0 {
        let to = Whence::Start(call.seek);
        if let Err(errno) = failed(cmd.sys.seek(output, to))? {
            return Ok(Err(errno));
        }
        if call.output.is_some() && !call.no_truncate {
            let _cut = failed(cmd.sys.ftruncate(output, call.seek))?;
        }
    }
    if call.skip == 0 {
        return Ok(Ok(()));
    }
    let here = failed(cmd.sys.seek(input, Whence::Current(0)))?;
    if let Ok(here) = here {
        return Ok(failed(
            cmd.sys
                .seek(input, Whence::Start(here.saturating_add(call.skip))),
        )?
        .map(|_| ()));
    }
    // What cannot be sought is read.
    let mut left = call.skip;
    let mut buffer = vec![0; usize::try_from(u64::min(call.ibs, left)).unwrap_or(512)];
    while left > 0 {
        cmd.sys.turns(1)?;
        let most =
            usize::try_from(left).map_or(buffer.len(), |left| usize::min(left, buffer.len()));
        match failed(
            cmd.sys
                .read(input, buffer.get_mut(..most).unwrap_or_default()),
        )? {
            Ok(0) => break,
            Ok(got) => left -= u64::try_from(got).unwrap_or(left),
            Err(errno) => return Ok(Err(errno)),
        }
    }
    Ok(Ok(()))
}

fn blocks(
    cmd: &mut Cmd<'_>,
    call: &Call,
    input: Fd,
    output: Fd,
    counts: &mut Counts,
) -> Result<(), SysError> {
    let size = usize::try_from(call.ibs).unwrap_or(usize::MAX);
    let obs = usize::try_from(call.obs).unwrap_or(usize::MAX);
    let mut buffer = vec![0; size];
    let mut pending: Vec<u8> = Vec::new();
    let mut left = call.count.unwrap_or(u64::MAX);
    while left > 0 {
        cmd.sys.turns(1)?;
        let most = if call.count_bytes {
            usize::try_from(left).map_or(size, |left| usize::min(left, size))
        } else {
            size
        };
        let mut got = 0;
        loop {
            let room = buffer.get_mut(got..most).unwrap_or_default();
            let read = cmd.sys.read(input, room)?;
            got += read;
            if read == 0 || got == most || !call.full_block {
                break;
            }
        }
        if got == 0 {
            break;
        }
        left -= if call.count_bytes {
            u64::try_from(got).unwrap_or(left)
        } else {
            1
        };
        let [whole, partial] = &mut counts.input;
        *(if got == size { whole } else { partial }) += 1;
        let mut block = buffer.get(..got).unwrap_or_default().to_vec();
        call.convert(&mut block);
        if call.same_blocks {
            put(cmd, output, &block, size, counts)?;
            continue;
        }
        pending.append(&mut block);
        while pending.len() >= obs {
            let rest = pending.split_off(obs);
            put(cmd, output, &pending, obs, counts)?;
            pending = rest;
        }
    }
    if !pending.is_empty() {
        put(cmd, output, &pending, obs, counts)?;
    }
    Ok(())
}

fn put(
    cmd: &mut Cmd<'_>,
    output: Fd,
    block: &[u8],
    size: usize,
    counts: &mut Counts,
) -> Result<(), SysError> {
    cmd.sys.write(output, block)?;
    let [whole, partial] = &mut counts.output;
    *(if block.len() == size { whole } else { partial }) += 1;
    counts.bytes += u64::try_from(block.len()).unwrap_or(0);
    Ok(())
}

fn report(cmd: &mut Cmd<'_>, level: Report, counts: &Counts, time: Duration) -> Result<(), Stop> {
    if level == Report::None {
        return Ok(());
    }
    let ([a, b], [c, d]) = (counts.input, counts.output);
    let mut text = format!("{a}+{b} records in\n{c}+{d} records out\n");
    if level == Report::All {
        let bytes = counts.bytes;
        let sizes = match bytes {
            1000..1024 => format!(" ({})", scaled(bytes, 1000, "B")),
            1024.. => format!(
                " ({}, {})",
                scaled(bytes, 1000, "B"),
                scaled(bytes, 1024, "iB")
            ),
            _ => String::new(),
        };
        let word = if bytes == 1 { "byte" } else { "bytes" };
        let seconds = time.as_secs_f64();
        let rate = if seconds > 0.0 {
            // A rate is told with two digits; what is lost in the conversion does not show.
            let rate = u64::try_from(time.as_nanos())
                .ok()
                .and_then(|nanos| {
                    u128::from(bytes)
                        .checked_mul(1_000_000_000)?
                        .checked_div(u128::from(nanos))
                })
                .and_then(|rate| u64::try_from(rate).ok());
            format!("{}/s", scaled(rate.unwrap_or(u64::MAX), 1000, "B"))
        } else {
            "Infinity B/s".to_owned()
        };
        text.push_str(&format!(
            "{bytes} {word}{sizes} copied, {seconds} s, {rate}\n"
        ));
    }
    say(cmd.sys, &[text.as_bytes()])
}

/// Shows a size as `2.0 kB`, rounded to the nearest.
fn scaled(bytes: u64, base: u64, unit: &str) -> String {
    let letters = if base == 1000 { "kMGTPE" } else { "KMGTPE" };
    let mut size = u128::from(base);
    if bytes < base {
        return format!("{bytes} B");
    }
    for letter in letters.chars() {
        let tenths = (u128::from(bytes) * 10 + size / 2) / size;
        if tenths < 100 {
            return format!("{}.{} {letter}{unit}", tenths / 10, tenths % 10);
        }
        let whole = (u128::from(bytes) + size / 2) / size;
        if whole < u128::from(base) {
            return format!("{whole} {letter}{unit}");
        }
        size *= u128::from(base);
    }
    format!("{bytes} B")
}
