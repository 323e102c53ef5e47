//! `hash`: remembered places of commands.

use std::sync::Arc;

use super::args::Getopt;
use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::assoc;

const USAGE: &str = "hash [-lr] [-p pathname] [-dt] [name ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut list, mut forget, mut delete, mut tell) = (false, false, false, false);
    let mut path = None;
    let mut options = Getopt::new(args, "dlp:rt");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'l' => list = true,
                b'r' => forget = true,
                b'd' => delete = true,
                b't' => tell = true,
                _ => path = given.value.map(<[u8]>::to_vec),
            },
            Err(bad) => return shell.bad_option(b"hash", &bad, USAGE),
        }
    }
    let names = options.rest();
    if !shell.options.has(Opt::HashAll) {
        shell.complain_as(b"hash", b"hashing disabled")?;
        return Ok(1);
    }
    if forget {
        shell.hashed = Arc::default();
    }
    if names.is_empty() {
        if forget {
            return Ok(0);
        }
        if delete || tell {
            let letter = if delete { "-d" } else { "-t" };
            let text = format!("{letter}: option requires an argument");
            shell.complain_as(b"hash", text.as_bytes())?;
            return Ok(1);
        }
        return show(shell, list);
    }
    let mut status = 0;
    let mut out = Vec::new();
    for name in names {
        if tell {
            match shell.hashed.get(name.as_slice()) {
                Some((found, _)) => {
                    if list {
                        out.extend_from_slice(
                            &[b"builtin hash -p ", &**found, b" ", name, b"\n"].concat(),
                        );
                    } else {
                        if names.len() > 1 {
                            out.extend_from_slice(name);
                            out.push(b'\t');
                        }
                        out.extend_from_slice(found);
                        out.push(b'\n');
                    }
                    continue;
                }
                None => {
                    shell.complain_as(b"hash", &[name, &b": not found"[..]].concat())?;
                    status = 1;
                }
            }
            continue;
        }
        if delete {
            if Arc::make_mut(&mut shell.hashed)
                .remove(name.as_slice())
                .is_none()
            {
                shell.complain_as(b"hash", &[name, &b": not found"[..]].concat())?;
                status = 1;
            }
            continue;
        }
        if name.contains(&b'/') || shell.find_builtin(name).is_some() && path.is_none() {
            continue;
        }
        let found = match &path {
            Some(path) => Some(path.clone()),
            None => shell.program_path(name)?,
        };
        match found {
            Some(found) => {
                shell.keep((name.len() + found.len()) as u64 + 128)?;
                Arc::make_mut(&mut shell.hashed)
                    .insert(name.as_slice().into(), (Arc::from(found), 0));
            }
            None => {
                shell.complain_as(b"hash", &[name, &b": not found"[..]].concat())?;
                status = 1;
            }
        }
    }
    let printed = shell.print(b"hash", &out)?;
    Ok(i32::max(status, printed))
}

fn show(shell: &mut Shell<'_>, list: bool) -> Result<i32, Flow> {
    if shell.hashed.is_empty() {
        return shell.print(
            b"hash",
            if list {
                b""
            } else {
                b"hash: hash table empty\n"
            },
        );
    }
    let mut out = Vec::new();
    if !list {
        out.extend_from_slice(b"hits\tcommand\n");
    }
    // In the order of bash's table, which has 256 buckets.
    let mut entries: Vec<_> = shell.hashed.iter().collect();
    entries.sort_by_key(|(name, _)| assoc::hash(name) & 255);
    for (name, (path, hits)) in entries {
        if list {
            out.extend_from_slice(&[b"builtin hash -p ", &**path, b" ", name, b"\n"].concat());
        } else {
            out.extend_from_slice(format!("{hits:4}\t").as_bytes());
            out.extend_from_slice(path);
            out.push(b'\n');
        }
    }
    shell.print(b"hash", &out)
}
