//! The operands of `dd`: `if=FILE`, `bs=SIZE` and so on.

use jp_bash_system::Stop;

use crate::file::Cmd;
use crate::numbers::size;

/// How much is told at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    None,
    Records,
    All,
}

/// What was asked for.
pub(super) struct Call {
    pub(super) input: Option<Vec<u8>>,
    pub(super) output: Option<Vec<u8>>,
    pub(super) ibs: u64,
    pub(super) obs: u64,
    /// Whether each block is written as it was read.
    pub(super) same_blocks: bool,
    pub(super) count: Option<u64>,
    pub(super) count_bytes: bool,
    /// In bytes.
    pub(super) skip: u64,
    /// In bytes.
    pub(super) seek: u64,
    pub(super) full_block: bool,
    pub(super) append: bool,
    pub(super) no_truncate: bool,
    pub(super) no_create: bool,
    pub(super) exclusive: bool,
    pub(super) report: Report,
    upper: bool,
    lower: bool,
    swap: bool,
    pad: bool,
}

impl Call {
    /// Converts a block that was read.
    pub(super) fn convert(&self, block: &mut Vec<u8>) {
        if self.pad {
            block.resize(usize::try_from(self.ibs).unwrap_or(block.len()), 0);
        }
        if self.swap {
            for pair in block.chunks_exact_mut(2) {
                pair.reverse();
            }
        }
        if self.upper {
            block.make_ascii_uppercase();
        }
        if self.lower {
            block.make_ascii_lowercase();
        }
    }
}

const SUFFIXES: &[u8] = b"bcEGkKMPTwYZ0";

/// The largest block that is held in memory.
const MOST_BLOCK: u64 = 1 << 40;

/// Reads a number with suffixes, or a product such as `2x1k`; nothing after a message.
fn number(cmd: &mut Cmd<'_>, text: &[u8], least: u64) -> Result<Option<u64>, Stop> {
    let mut product = Some(1_u64);
    for factor in text.split(|byte| *byte == b'x') {
        // `B` says that bytes are meant.
        let factor = match factor.strip_suffix(b"B") {
            Some(digits) if digits.iter().all(u8::is_ascii_digit) => digits,
            _ => factor,
        };
        product = match (product, size(factor, SUFFIXES)) {
            (Some(product), Ok(factor)) => product.checked_mul(factor),
            _ => None,
        };
    }
    if let Some(product) = product.filter(|n| *n >= least) {
        return Ok(Some(product));
    }
    let shown = cmd.quote(text);
    cmd.error(&[b"invalid number: ", &shown])?;
    Ok(None)
}

impl Default for Call {
    fn default() -> Self {
        Self {
            input: None,
            output: None,
            ibs: 512,
            obs: 512,
            same_blocks: false,
            count: None,
            count_bytes: false,
            skip: 0,
            seek: 0,
            full_block: false,
            append: false,
            no_truncate: false,
            no_create: false,
            exclusive: false,
            report: Report::All,
            upper: false,
            lower: false,
            swap: false,
            pad: false,
        }
    }
}

/// What the whole line says about sizes.
#[derive(Default)]
struct Units {
    block: Option<u64>,
    skip_bytes: bool,
    seek_bytes: bool,
}

/// What became of an operand.
enum Read {
    Done,
    Unknown,
    /// A message was printed.
    Wrong,
}

/// Reads the operands; nothing after a message.
pub(super) fn read(cmd: &mut Cmd<'_>, operands: &[Vec<u8>]) -> Result<Option<Call>, Stop> {
    let (mut call, mut units) = (Call::default(), Units::default());
    for operand in operands {
        let (name, value) = match memchr::memchr(b'=', operand) {
            Some(at) => (operand.get(..at), operand.get(at + 1..).unwrap_or_default()),
            None => (None, &b""[..]),
        };
        let name = name.unwrap_or_default();
        let read = match name {
            b"if" => {
                call.input = Some(value.to_vec());
                Read::Done
            }
            b"of" => {
                call.output = Some(value.to_vec());
                Read::Done
            }
            b"conv" | b"iflag" | b"oflag" | b"status" => {
                words(cmd, &mut call, &mut units, name, value)?
            }
            _ => amount(cmd, &mut call, &mut units, name, value)?,
        };
        match read {
            Read::Done => {}
            Read::Wrong => return Ok(None),
            Read::Unknown => {
                let shown = cmd.quote(operand);
                cmd.usage(&[b"unrecognized operand ", &shown])?;
                return Ok(None);
            }
        }
    }
    if let Some(block) = units.block {
        (call.ibs, call.obs) = (block, block);
        call.same_blocks = !(call.upper || call.lower || call.swap);
    }
    if u64::max(call.ibs, call.obs) > MOST_BLOCK {
        cmd.error(&[b"memory exhausted by input buffer"])?;
        return Ok(None);
    }
    if !units.skip_bytes {
        call.skip = call.skip.saturating_mul(call.ibs);
    }
    if !units.seek_bytes {
        call.seek = call.seek.saturating_mul(call.obs);
    }
    Ok(Some(call))
}

/// Reads an operand that is a number.
fn amount(
    cmd: &mut Cmd<'_>,
    call: &mut Call,
    units: &mut Units,
    name: &[u8],
    value: &[u8],
) -> Result<Read, Stop> {
    let known: &[&[u8]] = &[
        b"bs", b"ibs", b"obs", b"cbs", b"count", b"skip", b"iseek", b"seek", b"oseek",
    ];
    if !known.contains(&name) {
        return Ok(Read::Unknown);
    }
    let Some(number) = number(cmd, value, u64::from(name.ends_with(b"bs")))? else {
        return Ok(Read::Wrong);
    };
    let in_bytes = value.ends_with(b"B");
    match name {
        b"bs" => units.block = Some(number),
        b"ibs" => call.ibs = number,
        b"obs" => call.obs = number,
        b"count" => {
            call.count = Some(number);
            call.count_bytes |= in_bytes;
        }
        b"skip" | b"iseek" => {
            call.skip = number;
            units.skip_bytes |= in_bytes;
        }
        b"seek" | b"oseek" => {
            call.seek = number;
            units.seek_bytes |= in_bytes;
        }
        _ => {}
    }
    Ok(Read::Done)
}

/// Reads an operand that is a list of words.
fn words(
    cmd: &mut Cmd<'_>,
    call: &mut Call,
    units: &mut Units,
    name: &[u8],
    value: &[u8],
) -> Result<Read, Stop> {
    for word in value.split(|byte| *byte == b',') {
        match (name, word) {
            (b"iflag", b"skip_bytes") => units.skip_bytes = true,
            (b"oflag", b"seek_bytes") => units.seek_bytes = true,
            _ if flag(call, name, word) => {}
            _ => {
                wrong_word(cmd, name, word)?;
                return Ok(Read::Wrong);
            }
        }
    }
    Ok(Read::Done)
}

/// Applies a word of `conv=`, `iflag=`, `oflag=` or `status=`.
fn flag(call: &mut Call, name: &[u8], word: &[u8]) -> bool {
    match (name, word) {
        (b"conv", b"ucase") => call.upper = true,
        (b"conv", b"lcase") => call.lower = true,
        (b"conv", b"swab") => call.swap = true,
        (b"conv", b"sync") => call.pad = true,
        (b"conv", b"notrunc") => call.no_truncate = true,
        (b"conv", b"nocreat") => call.no_create = true,
        (b"conv", b"excl") => call.exclusive = true,
        (b"conv", b"noerror" | b"fsync" | b"fdatasync" | b"sparse") => {}
        (b"iflag", b"fullblock") => call.full_block = true,
        (b"iflag", b"count_bytes") => call.count_bytes = true,
        (b"oflag", b"append") => call.append = true,
        (b"iflag" | b"oflag", b"direct" | b"dsync" | b"sync" | b"nocache" | b"nonblock") => {}
        (b"status", b"none") => call.report = Report::None,
        (b"status", b"noxfer") => call.report = Report::Records,
        (b"status", b"progress") => call.report = Report::All,
        _ => return false,
    }
    true
}

fn wrong_word(cmd: &mut Cmd<'_>, name: &[u8], word: &[u8]) -> Result<(), Stop> {
    let what: &[u8] = match name {
        b"conv" => b"invalid conversion: ",
        b"iflag" => b"invalid input flag: ",
        b"oflag" => b"invalid output flag: ",
        _ => b"invalid status level: ",
    };
    let shown = cmd.quote(word);
    cmd.usage(&[what, &shown])?;
    Ok(())
}
