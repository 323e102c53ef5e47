//! `comm`: two sorted files side by side: lines of the first, of the second, of both.

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};
use super::pace;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "comm",
    about: "Compares two sorted files line by line.",
    run,
    options: OPTIONS,
};

const CHECK: char = '\u{200}';
const NO_CHECK: char = '\u{201}';
const DELIMITER: char = '\u{202}';
const TOTAL: char = '\u{203}';

const OPTIONS: &[Opt] = &[
    opt('1', Some(b'1'), None, Takes::Nothing),
    opt('2', Some(b'2'), None, Takes::Nothing),
    opt('3', Some(b'3'), None, Takes::Nothing),
    opt(CHECK, None, Some("check-order"), Takes::Nothing),
    opt(NO_CHECK, None, Some("nocheck-order"), Takes::Nothing),
    opt(DELIMITER, None, Some("output-delimiter"), Takes::Required),
    opt(TOTAL, None, Some("total"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

struct Side {
    input: Input,
    /// The line, if there is one, and room for the one before it.
    line: Option<Vec<u8>>,
    spare: Vec<u8>,
    held: Held,
    disorder: bool,
}

impl Side {
    fn next(&mut self, cmd: &mut Cmd<'_>, end: u8) -> Result<(), Stop> {
        let old = self.line.take();
        let got = failed(self.input.record(cmd.sys, end))?.unwrap_or(None);
        if let Some(line) = got {
            let line = line.strip_suffix(&[end]).unwrap_or(line);
            let mut new = std::mem::take(&mut self.spare);
            self.held.copy(cmd.sys, &mut new, line)?;
            if let Some(old) = &old {
                self.disorder |= pace::compare(cmd.sys, old, &new)?.is_gt();
            }
            self.line = Some(new);
        }
        self.spare = old.unwrap_or_default();
        Ok(())
    }
}

/// Runs `comm`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE1 FILE2")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut shown = [true; 3];
    let mut delimiter = b"\t".to_vec();
    let (mut end, mut total, mut check) = (b'\n', false, None);
    for (id, value) in parsed.options {
        match id {
            '1' => shown[0] = false,
            '2' => shown[1] = false,
            '3' => shown[2] = false,
            'z' => end = 0,
            TOTAL => total = true,
            CHECK => check = Some(true),
            NO_CHECK => check = Some(false),
            DELIMITER => delimiter = value.filter(|text| !text.is_empty()).unwrap_or(vec![0]),
            _ => {}
        }
    }
    let [first, second] = parsed.operands.as_slice() else {
        return match parsed.operands.as_slice() {
            [] => cmd.usage(&[b"missing operand"]),
            [only] => {
                let name = cmd.quote(only);
                cmd.usage(&[b"missing operand after ", &name])
            }
            [_, _, extra, ..] => {
                let name = cmd.quote(extra);
                cmd.usage(&[b"extra operand ", &name])
            }
            _ => Ok(1),
        };
    };
    let mut sides = Vec::new();
    for path in [first, second] {
        match failed(Input::open(cmd.sys, path))? {
            Ok(input) => sides.push(Side {
                input,
                line: None,
                spare: Vec::new(),
                held: Held::default(),
                disorder: false,
            }),
            Err(errno) => {
                let name = cmd.qf(path);
                cmd.fail(&[&name], errno)?;
                return cmd.finish();
            }
        }
    }
    if let [left, right] = sides.as_mut_slice() {
        compare(
            &mut cmd,
            left,
            right,
            &Show {
                shown,
                delimiter,
                end,
                total,
                check,
            },
        )?;
    }
    for mut side in sides {
        side.held.end(cmd.sys);
        side.input.close(cmd.sys);
    }
    cmd.finish()
}

struct Show {
    shown: [bool; 3],
    delimiter: Vec<u8>,
    end: u8,
    total: bool,
    /// `Some(true)` checks both files, `None` only while something differs.
    check: Option<bool>,
}

fn compare(cmd: &mut Cmd<'_>, left: &mut Side, right: &mut Side, show: &Show) -> Result<(), Stop> {
    let mut counts = [0_u64; 3];
    let mut told = [false; 2];
    let mut unpaired = false;
    left.next(cmd, show.end)?;
    right.next(cmd, show.end)?;
    loop {
        let order = match (&left.line, &right.line) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(left), Some(right)) => pace::compare(cmd.sys, left, right)?,
        };
        let (column, line) = match order {
            std::cmp::Ordering::Less => (0, &left.line),
            std::cmp::Ordering::Greater => (1, &right.line),
            std::cmp::Ordering::Equal => (2, &left.line),
        };
        if let Some(count) = counts.get_mut(column) {
            *count += 1;
        }
        if show.shown.get(column) == Some(&true) {
            let before = show
                .shown
                .iter()
                .take(column)
                .filter(|shown| **shown)
                .count();
            for _ in 0..before {
                cmd.put(&show.delimiter)?;
            }
            cmd.put(line.as_deref().unwrap_or_default())?;
            cmd.put(&[show.end])?;
        }
        unpaired |= order.is_ne();
        if order.is_le() {
            left.next(cmd, show.end)?;
        }
        if order.is_ge() {
            right.next(cmd, show.end)?;
        }
        for (number, side) in [&*left, &*right].into_iter().enumerate() {
            let due = side.disorder && (unpaired || show.check == Some(true));
            if due && show.check != Some(false) && told.get(number) == Some(&false) {
                if let Some(told) = told.get_mut(number) {
                    *told = true;
                }
                cmd.error(&[format!("file {} is not in sorted order", number + 1).as_bytes()])?;
                if show.check == Some(true) {
                    return Ok(());
                }
            }
        }
    }
    if show.total {
        let [one, two, both] = counts.map(|count| count.to_string().into_bytes());
        let text = [one, two, both, b"total".to_vec()].join(show.delimiter.as_slice());
        cmd.put(&text)?;
        cmd.put(&[show.end])?;
    }
    if told.contains(&true) {
        cmd.error(&[b"input is not in sorted order"])?;
    }
    Ok(())
}
