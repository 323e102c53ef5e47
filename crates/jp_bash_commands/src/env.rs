//! `env`: a changed environment, printed or given to a program.

use jp_bash_system::io::{Output, complain};
use jp_bash_system::{Ended, Environ, Spawn, Stop, System, failed};

use super::Spec;
use super::options::{Order, Takes, opt, parse, refused};
use super::say::{self, HELP, VERSION};

const SIGNALS: &str = "signal handling is not inherited";

/// `env`
pub(crate) const SPEC: Spec = Spec {
    name: "env",
    about: "run a command in a changed environment",
    run,
    options: &[
        opt('i', Some(b'i'), Some("ignore-environment"), Takes::Nothing),
        opt('0', Some(b'0'), Some("null"), Takes::Nothing),
        opt('u', Some(b'u'), Some("unset"), Takes::Required),
        opt('C', Some(b'C'), Some("chdir"), Takes::Required),
        opt('S', Some(b'S'), Some("split-string"), Takes::Required),
        opt('v', Some(b'v'), Some("debug"), Takes::Nothing),
        refused(None, Some("block-signal"), Takes::Optional, SIGNALS),
        refused(None, Some("default-signal"), Takes::Optional, SIGNALS),
        refused(None, Some("ignore-signal"), Takes::Optional, SIGNALS),
        refused(None, Some("list-signal-handling"), Takes::Nothing, SIGNALS),
        HELP,
        VERSION,
    ],
};

/// How often `-S` may hand out another `-S`.
const MOST_SPLITS: usize = 16;

#[derive(Default)]
struct Call {
    clear: bool,
    null: bool,
    verbose: bool,
    unset: Vec<Vec<u8>>,
    dir: Option<Vec<u8>>,
    operands: Vec<Vec<u8>>,
}

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut call = Call::default();
    if let Some(status) = read(sys, args, &mut call)? {
        return Ok(status);
    }
    let mut environ = match call.clear {
        true => Vec::new(),
        false => sys.environ()?,
    };
    for name in &call.unset {
        if name.is_empty() || name.contains(&b'=') {
            let shown = say::quoted(sys, name);
            complain(
                sys,
                b"env",
                &[b"cannot unset ", shown.as_slice(), b": Invalid argument"].concat(),
            )?;
            return Ok(125);
        }
        environ.retain(|(known, _)| known != name);
    }
    let mut rest = call.operands.iter().peekable();
    while let Some((name, value)) = rest.peek().and_then(|word| split_assignment(word)) {
        match environ.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_vec(),
            None => environ.push((name.to_vec(), value.to_vec())),
        }
        rest.next();
    }
    let argv: Vec<Vec<u8>> = rest.cloned().collect();
    if argv.is_empty() {
        if call.dir.is_some() {
            return say::misused(sys, b"env", b"must specify command with --chdir (-C)", 125);
        }
        let end = if call.null { 0 } else { b'\n' };
        let status = list(sys, b"env", &environ, end)?;
        return Ok(if status == 0 { 0 } else { 125 });
    }
    if call.null {
        return say::misused(sys, b"env", b"cannot specify --null (-0) with command", 125);
    }
    execute(sys, argv, environ, &call)
}

fn split_assignment(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', word)?;
    Some((word.get(..at)?, word.get(at + 1..)?))
}

/// Reads options; `-S` puts more words in their place. Returns a status if nothing is to be run.
fn read(sys: &mut dyn System, args: &[Vec<u8>], call: &mut Call) -> Result<Option<i32>, Stop> {
    let mut args = args.to_vec();
    for _ in 0..MOST_SPLITS {
        let Ok(parsed) = parse(sys, &args, SPEC.options, Order::Stop)? else {
            return Ok(Some(125));
        };
        if let Some(status) = say::answered(
            sys,
            &parsed.options,
            "env",
            "env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
        )? {
            return Ok(Some(status));
        }
        let mut again = None;
        for (id, value) in parsed.options {
            let value = value.unwrap_or_default();
            match id {
                'i' => call.clear = true,
                '0' => call.null = true,
                'v' => call.verbose = true,
                'u' => call.unset.push(value),
                'C' => call.dir = Some(value),
                'S' => match split(sys, &value) {
                    Ok(words) => again = Some(words),
                    Err(Unsplit::Message(message)) => {
                        complain(sys, b"env", &message)?;
                        return Ok(Some(125));
                    }
                    Err(Unsplit::Stop(stop)) => return Err(stop),
                },
                _ => {}
            }
        }
        match again {
            Some(words) => {
                let mut next = vec![b"env".to_vec()];
                next.extend(words);
                next.extend(parsed.operands);
                args = next;
            }
            None => {
                call.operands = parsed.operands;
                if call.operands.first().is_some_and(|word| word == b"-") {
                    call.clear = true;
                    call.operands.remove(0);
                }
                return Ok(None);
            }
        }
    }
    complain(sys, b"env", b"too many nested -S options")?;
    Ok(Some(125))
}

/// Why an argument of `-S` could not be split.
#[derive(Debug)]
enum Unsplit {
    Message(Vec<u8>),
    Stop(Stop),
}

impl From<Vec<u8>> for Unsplit {
    fn from(message: Vec<u8>) -> Self {
        Self::Message(message)
    }
}

impl From<Stop> for Unsplit {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Splits the argument of `-S`: quotes, backslashes, `${NAME}`.
fn split(sys: &mut dyn System, text: &[u8]) -> Result<Vec<Vec<u8>>, Unsplit> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        match (byte, quote) {
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => words.extend(word.take()),
            (b'#', None) if word.is_none() => break,
            (b'$', None | Some(b'"')) => {
                let name = braced(&mut rest)?;
                let value = sys.env(&name).unwrap_or_default();
                sys.reserve(value.len() as u64)?;
                word.get_or_insert_default().extend(value);
            }
            (b'\\', quote) => {
                let next = rest.next();
                match (next, quote) {
                    (Some(b'c'), None) => break,
                    (Some(b'_'), None) => words.extend(word.take()),
                    (Some(next), Some(b'\'')) if next != b'\\' && next != b'\'' => {
                        word.get_or_insert_default()
                            .extend_from_slice(&[b'\\', next]);
                    }
                    (Some(next), _) => word.get_or_insert_default().push(escape(next)?),
                    (None, _) => {
                        return Err(b"invalid backslash at end of string in -S".to_vec().into());
                    }
                }
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    if quote.is_some() {
        return Err(b"no terminating quote in -S string".to_vec().into());
    }
    words.extend(word);
    Ok(words)
}

fn escape(letter: u8) -> Result<u8, Vec<u8>> {
    Ok(match letter {
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'_' => b' ',
        b'#' | b'$' | b'"' | b'\'' | b'\\' => letter,
        _ => return Err([b"invalid sequence '\\", [letter].as_slice(), b"' in -S"].concat()),
    })
}

/// Reads `{NAME}` behind a dollar.
fn braced(rest: &mut (impl Iterator<Item = u8> + Clone)) -> Result<Vec<u8>, Vec<u8>> {
    let here = rest.clone();
    let wrong = || {
        let what = b"only ${VARNAME} expansion is supported, error at: $";
        what.iter().copied().chain(here.clone()).collect()
    };
    if rest.next() != Some(b'{') {
        return Err(wrong());
    }
    let mut name = Vec::new();
    loop {
        match rest.next() {
            Some(b'}') if !name.is_empty() => return Ok(name),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => name.push(byte),
            _ => return Err(wrong()),
        }
    }
}

/// Prints variables, however long they are.
pub(super) fn list(
    sys: &mut dyn System,
    command: &[u8],
    environ: &[(Vec<u8>, Vec<u8>)],
    end: u8,
) -> Result<i32, Stop> {
    let mut out = Output::new(1);
    for (name, value) in environ {
        for part in [name.as_slice(), b"=", value, &[end]] {
            out.put(sys, part)?;
        }
    }
    say::finished(sys, command, out)
}

fn execute(
    sys: &mut dyn System,
    argv: Vec<Vec<u8>>,
    environ: Environ,
    call: &Call,
) -> Result<i32, Stop> {
    let name = argv.first().cloned().unwrap_or_default();
    if let Some(dir) = &call.dir {
        let there = failed(sys.stat(dir, jp_bash_system::Follow::Yes))?;
        let wrong = match there {
            Ok(stat) if stat.kind == jp_bash_system::FileKind::Directory => None,
            Ok(_) => Some(jp_bash_system::Errno::NotDir),
            Err(errno) => Some(errno),
        };
        if let Some(errno) = wrong {
            let message = [
                b"cannot change directory to '",
                dir.as_slice(),
                b"': ",
                errno.text().as_bytes(),
            ]
            .concat();
            complain(sys, b"env", &message)?;
            return Ok(125);
        }
    }
    if call.verbose {
        tell(sys, &argv, call)?;
    }
    let spawned = sys.spawn(Spawn {
        argv,
        env: Some(environ),
        cwd: call.dir.clone(),
        ..Spawn::default()
    });
    match failed(spawned)? {
        Ok(child) => Ok(match failed(sys.wait(child))? {
            Ok(Ended::Exit(status)) => status,
            Ok(Ended::Signal(signal)) => 128 + i32::from(signal),
            Err(_) => 125,
        }),
        Err(errno) => {
            let shown = say::quoted(sys, &name);
            complain(
                sys,
                b"env",
                &[shown.as_slice(), b": ", errno.text().as_bytes()].concat(),
            )?;
            Ok(say::not_run(errno))
        }
    }
}

/// Prints what `-v` tells.
fn tell(sys: &mut dyn System, argv: &[Vec<u8>], call: &Call) -> Result<(), Stop> {
    let mut out = Vec::new();
    if call.clear {
        out.extend_from_slice(b"cleaning environ\n");
    }
    for name in &call.unset {
        out.extend_from_slice(&[b"unset:    ", name.as_slice(), b"\n"].concat());
    }
    for word in call.operands.iter().take(call.operands.len() - argv.len()) {
        out.extend_from_slice(&[b"setenv:   ", word.as_slice(), b"\n"].concat());
    }
    if let Some(dir) = &call.dir {
        out.extend_from_slice(&[b"chdir:    '", dir.as_slice(), b"'\n"].concat());
    }
    if let Some(name) = argv.first() {
        out.extend_from_slice(&[b"executing: ", name.as_slice(), b"\n"].concat());
    }
    for (index, word) in argv.iter().enumerate() {
        let shown = say::quoted(sys, word);
        out.extend_from_slice(
            &[
                b"   arg[",
                index.to_string().as_bytes(),
                b"]= ",
                &shown,
                b"\n",
            ]
            .concat(),
        );
    }
    failed(sys.write(2, &out))?.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::{run, split};

    #[test]
    fn without_a_command_the_environment_is_printed() {
        let mut fixture = Fixture::default();
        fixture.env.insert(b"A".to_vec(), b"1".to_vec());
        assert_eq!(fixture.run(run, &["env", "B=2"]).stdout, "A=1\nB=2\n");
        assert_eq!(fixture.run(run, &["env", "-u", "A", "B=2"]).stdout, "B=2\n");
        assert_eq!(fixture.run(run, &["env", "-", "C=3"]).stdout, "C=3\n");
        assert_eq!(
            fixture.run(run, &["env", "--ignore-signal"]).status,
            Ok(125)
        );
    }

    #[test]
    fn split_strings_have_quotes_and_variables() {
        let mut fixture = Fixture::default();
        fixture.env.insert(b"A".to_vec(), b"x y".to_vec());
        let words = split(&mut fixture, br#"a 'b c' "d\te" ${A}z f\_g # rest"#).unwrap();
        let want: Vec<&[u8]> = vec![b"a", b"b c", b"d\te", b"x yz", b"f", b"g"];
        assert_eq!(words, want);
        assert!(split(&mut fixture, b"'open").is_err());
        assert!(split(&mut fixture, b"$A").is_err());
    }
}
