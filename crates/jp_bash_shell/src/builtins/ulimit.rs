//! `ulimit`: shows the limits of a virtual machine; the real ones are the run's budget.

use super::args::{number, operand};
use crate::Shell;
use crate::flow::Flow;

const USAGE: &str = "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]";

struct Row {
    letter: u8,
    text: &'static str,
    unit: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        letter: b'R',
        text: "real-time non-blocking time",
        unit: "microseconds, -R",
    },
    Row {
        letter: b'c',
        text: "core file size",
        unit: "blocks, -c",
    },
    Row {
        letter: b'd',
        text: "data seg size",
        unit: "kbytes, -d",
    },
    Row {
        letter: b'e',
        text: "scheduling priority",
        unit: "-e",
    },
    Row {
        letter: b'f',
        text: "file size",
        unit: "blocks, -f",
    },
    Row {
        letter: b'i',
        text: "pending signals",
        unit: "-i",
    },
    Row {
        letter: b'l',
        text: "max locked memory",
        unit: "kbytes, -l",
    },
    Row {
        letter: b'm',
        text: "max memory size",
        unit: "kbytes, -m",
    },
    Row {
        letter: b'n',
        text: "open files",
        unit: "-n",
    },
    Row {
        letter: b'p',
        text: "pipe size",
        unit: "512 bytes, -p",
    },
    Row {
        letter: b'q',
        text: "POSIX message queues",
        unit: "bytes, -q",
    },
    Row {
        letter: b'r',
        text: "real-time priority",
        unit: "-r",
    },
    Row {
        letter: b's',
        text: "stack size",
        unit: "kbytes, -s",
    },
    Row {
        letter: b't',
        text: "cpu time",
        unit: "seconds, -t",
    },
    Row {
        letter: b'u',
        text: "max user processes",
        unit: "-u",
    },
    Row {
        letter: b'v',
        text: "virtual memory",
        unit: "kbytes, -v",
    },
    Row {
        letter: b'x',
        text: "file locks",
        unit: "-x",
    },
];

fn value(shell: &Shell<'_>, letter: u8) -> String {
    let bounds = shell.kernel.budget.bounds();
    match letter {
        b'n' | b'u' => bounds.files.to_string(),
        b'p' => "8".to_owned(),
        b'e' | b'r' | b'q' => "0".to_owned(),
        b'v' | b'm' | b'd' => (bounds.memory / 1024).to_string(),
        b't' => bounds.time.as_secs().to_string(),
        b'c' => "0".to_owned(),
        b's' => "8192".to_owned(),
        _ => "unlimited".to_owned(),
    }
}

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut letters: Vec<u8> = Vec::new();
    let mut rest = args.get(1..).unwrap_or_default();
    let mut all = false;
    while let Some(arg) = rest
        .first()
        .filter(|arg| arg.len() > 1 && arg.starts_with(b"-"))
    {
        for letter in arg.iter().skip(1) {
            match letter {
                b'S' | b'H' => {}
                b'a' => all = true,
                letter if ROWS.iter().any(|row| row.letter == *letter) => letters.push(*letter),
                letter => {
                    let text = [b"-", &[*letter][..], b": invalid option"].concat();
                    shell.complain_as(b"ulimit", &text)?;
                    return shell.usage(b"ulimit", USAGE);
                }
            }
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    if all {
        letters = ROWS.iter().map(|row| row.letter).collect();
    } else if letters.is_empty() {
        letters.push(b'f');
    }
    if !rest.is_empty() && !all {
        let text = operand(rest, 0).to_vec();
        let fine =
            matches!(text.as_slice(), b"unlimited" | b"hard" | b"soft") || number(&text).is_some();
        if !fine {
            shell.complain_as(b"ulimit", &[&text, &b": invalid number"[..]].concat())?;
            return Ok(1);
        }
        // The budget is the embedder's: a script can neither raise nor lower it, only ask for what holds.
        for letter in &letters {
            let current = value(shell, *letter);
            let same = matches!(text.as_slice(), b"hard" | b"soft") || text == current.as_bytes();
            if !same && let Some(row) = ROWS.iter().find(|row| row.letter == *letter) {
                let message = format!("{}: cannot modify limit: Operation not permitted", row.text);
                shell.complain_as(b"ulimit", message.as_bytes())?;
                return Ok(1);
            }
        }
        return Ok(0);
    }
    let mut out = String::new();
    for letter in &letters {
        let shown = value(shell, *letter);
        match ROWS.iter().find(|row| row.letter == *letter) {
            Some(row) if letters.len() > 1 => {
                let unit = format!("({})", row.unit);
                let width = 44usize.saturating_sub(row.text.len());
                out.push_str(&format!("{}{unit:>width$} {shown}\n", row.text));
            }
            _ => out.push_str(&format!("{shown}\n")),
        }
    }
    shell.print(b"ulimit", out.as_bytes())
}
