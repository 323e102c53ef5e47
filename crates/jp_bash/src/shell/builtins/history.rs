//! `history` and `fc`: a script has no history, so the list is empty.

use super::args::{Getopt, number};
use crate::shell::Shell;
use crate::shell::flow::Flow;

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str =
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]";
    let mut options = Getopt::new(args, "acd:npsrw");
    let mut print = false;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'd' => {
                    let text = given.value.unwrap_or_default().to_vec();
                    shell.complain_as(
                        b"history",
                        &[&text, &b": history position out of range"[..]].concat(),
                    )?;
                    return Ok(1);
                }
                b'p' => print = true,
                _ => {}
            },
            Err(bad) => return shell.bad_option(b"history", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if print {
        let mut out = rest.join(&b'\n');
        if !rest.is_empty() {
            out.push(b'\n');
        }
        return shell.print(b"history", &out);
    }
    if let Some(word) = rest.first()
        && number(word).is_none()
        && args.len() == 2
    {
        shell.complain_as(
            b"history",
            &[word, &b": numeric argument required"[..]].concat(),
        )?;
        return Ok(1);
    }
    Ok(0)
}

pub(super) fn fc(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]";
    let mut options = Getopt::new(args, "e:lnrs");
    let mut list = false;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => list |= given.letter == b'l',
            Err(bad) => return shell.bad_option(b"fc", &bad, USAGE),
        }
    }
    if list {
        return Ok(0);
    }
    shell.complain_as(b"fc", b"no command found")?;
    Ok(1)
}
