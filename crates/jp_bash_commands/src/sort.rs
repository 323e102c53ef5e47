//! `sort`: lines in order, with keys; also checks and merges.

use jp_bash_system::io::{Held, Input, Output, called, fail, say};
use jp_bash_system::{Errno, Fd, OpenHow, Stop, SysError, System, failed};

use super::Spec;
use super::options::{self, Front, begin, hint};
use super::quote::{quote, quote_name, quote_name_if_odd};
use super::sort_merge::merge;
use super::sort_options::{Bad, CHECK, OPTIONS, Settings, modern, set};
use super::sort_run::{Lines, Order};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "sort",
    about: "Prints the lines of all files together, in order.",
    run,
    options: OPTIONS,
};

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... [FILE]...",
    usage_status: 2,
    order: options::Order::Permute,
};

/// Runs `sort`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let modern = modern(args);
    let parsed = match begin(sys, &modern, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings::default();
    let mut files = parsed.operands;
    for (id, value) in parsed.options {
        if id == CHECK && value.is_none() {
            if let Err(Bad::Plain(message)) = settings.set_check('c') {
                return fail(sys, args, 2, &[&message]);
            }
            continue;
        }
        let value = value.unwrap_or_default();
        if id == 'y' {
            // An old option whose argument counts only if it is a number.
            if !value.iter().all(u8::is_ascii_digit) {
                files.push(value);
            }
        } else {
            match set(sys, args, &mut settings, id, value)? {
                Ok(()) => {}
                Err(Bad::Plain(message)) => return fail(sys, args, 2, &[&message]),
                // Here GNU's status is 1, unlike that of all other mistakes.
                Err(Bad::Reported) => {
                    hint(sys, called(args))?;
                    return Ok(1);
                }
            }
        }
    }
    if let Some(from) = settings.files_from.take() {
        if let Some(extra) = files.first() {
            let name = quote_name(sys.utf8(), extra);
            fail(sys, args, 2, &[b"extra operand ", &name])?;
            say(
                sys,
                &[b"file operands cannot be combined with --files0-from\n"],
            )?;
            hint(sys, called(args))?;
            return Ok(2);
        }
        match listed(sys, &from)? {
            Ok(names) => files = names,
            Err(message) => return fail(sys, args, 2, &[&message]),
        }
    }
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    start(sys, args, settings, &files)
}

/// Settles what the options mean together, then does it.
fn start(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    mut settings: Settings,
    files: &[Vec<u8>],
) -> Result<i32, Stop> {
    for key in &mut settings.keys {
        if key.is_default() && !key.reverse {
            key.inherit(&settings.global);
        }
    }
    if settings.keys.is_empty() && !settings.global.is_default() {
        settings.keys.push(settings.global.clone());
    }
    for key in &settings.keys {
        if let Some(letters) = key.clash() {
            let parts: &[&[u8]] = &[b"options '-", letters.as_bytes(), b"' are incompatible"];
            return fail(sys, args, 2, parts);
        }
    }
    if let Some(check) = settings.check {
        let letter = check.to_string();
        if let Some(extra) = files.get(1) {
            let name = quote_name(sys.utf8(), extra);
            let parts: &[&[u8]] = &[
                b"extra operand ",
                &name,
                b" not allowed with -",
                letter.as_bytes(),
            ];
            return fail(sys, args, 2, parts);
        }
        if settings.output.is_some() {
            let parts: &[&[u8]] = &[b"options '-", letter.as_bytes(), b"o' are incompatible"];
            return fail(sys, args, 2, parts);
        }
    }
    let mut order = Order {
        tab: settings.tab,
        stable: settings.stable || settings.unique,
        reverse: settings.global.reverse,
        seed: Vec::new(),
        keys: std::mem::take(&mut settings.keys),
    };
    if order.keys.iter().any(|key| key.random) {
        match seed(sys, settings.random_source.as_deref())? {
            Ok(seed) => order.seed = seed,
            Err(message) => return fail(sys, args, 2, &[&message]),
        }
    }
    let end = if settings.zero { 0 } else { b'\n' };
    let mut held = Held::default();
    let job = Job {
        args,
        settings: &settings,
        order: &order,
        end,
    };
    let done = match settings.check {
        Some(check) => job.check(sys, files, check, &mut held),
        None if settings.merge => job.merge(sys, files, &mut held),
        None => job.sort(sys, files, &mut held),
    };
    held.end(sys);
    done
}

/// Reads file names that end in NUL.
fn listed(sys: &mut dyn System, from: &[u8]) -> Result<Result<Vec<Vec<u8>>, Vec<u8>>, Stop> {
    let utf8 = sys.utf8();
    let shown = quote_name_if_odd(utf8, from);
    let mut list = match failed(Input::open(sys, from))? {
        Ok(list) => list,
        Err(errno) => {
            let text = errno.text().as_bytes();
            return Ok(Err(
                [b"open failed: ", shown.as_slice(), b": ", text].concat()
            ));
        }
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    loop {
        let name = match failed(list.record(sys, 0))? {
            Ok(Some(name)) => name.strip_suffix(b"\0").unwrap_or(name).to_vec(),
            Ok(None) => break,
            Err(_) => {
                return Ok(Err([
                    b"cannot read file names from ",
                    quote_name(utf8, from).as_slice(),
                ]
                .concat()));
            }
        };
        sys.reserve(name.len() as u64 + 32)?;
        if from == b"-" && name == b"-" {
            let text = b"when reading file names from stdin, no file name of '-' allowed";
            return Ok(Err(text.to_vec()));
        }
        if name.is_empty() {
            let number = (names.len() + 1).to_string();
            let text = b": invalid zero-length file name";
            return Ok(Err(
                [shown.as_slice(), b":", number.as_bytes(), text].concat()
            ));
        }
        names.push(name);
    }
    list.close(sys);
    if names.is_empty() {
        return Ok(Err(
            [b"no input from ", quote_name(utf8, from).as_slice()].concat()
        ));
    }
    Ok(Ok(names))
}

/// Gets what makes one shuffle differ from the next.
fn seed(sys: &mut dyn System, source: Option<&[u8]>) -> Result<Result<Vec<u8>, Vec<u8>>, Stop> {
    let mut seed = vec![0; 16];
    let Some(source) = source else {
        sys.random(&mut seed);
        return Ok(Ok(seed));
    };
    let mut input = match failed(Input::open(sys, source))? {
        Ok(input) => input,
        Err(errno) => {
            let name = quote_name_if_odd(sys.utf8(), source);
            let text = errno.text().as_bytes();
            return Ok(Err(
                [b"open failed: ", name.as_slice(), b": ", text].concat()
            ));
        }
    };
    let mut got = Vec::new();
    while got.len() < seed.len() {
        let bytes = failed(input.fill_at_most(sys, seed.len() - got.len()))?.unwrap_or_default();
        if bytes.is_empty() {
            let name = quote(sys.utf8(), source);
            return Ok(Err([name.as_slice(), b": end of file"].concat()));
        }
        got.extend_from_slice(bytes);
        let len = bytes.len();
        input.consume(len);
    }
    input.close(sys);
    Ok(Ok(got))
}

struct Job<'a> {
    args: &'a [Vec<u8>],
    settings: &'a Settings,
    order: &'a Order,
    end: u8,
}

impl Job<'_> {
    fn cannot(
        &self,
        sys: &mut dyn System,
        what: &[u8],
        name: &[u8],
        errno: Errno,
    ) -> Result<i32, Stop> {
        let name = quote_name_if_odd(sys.utf8(), name);
        fail(
            sys,
            self.args,
            2,
            &[what, b": ", &name, b": ", errno.text().as_bytes()],
        )
    }

    fn sort(&self, sys: &mut dyn System, files: &[Vec<u8>], held: &mut Held) -> Result<i32, Stop> {
        let mut lines = Lines::new(self.end);
        for file in files {
            let mut input = match failed(Input::open(sys, file))? {
                Ok(input) => input,
                Err(errno) => return self.cannot(sys, b"cannot read", file, errno),
            };
            let done = lines.read(sys, &mut input, held);
            input.close(sys);
            if let Err(errno) = failed(done)? {
                return self.cannot(sys, b"read failed", file, errno);
            }
        }
        lines.sort(sys, self.order, held)?;
        let mut out = match self.target(sys)? {
            Ok(fd) => Output::new(fd),
            Err(status) => return Ok(status),
        };
        let mut previous: Option<&[u8]> = None;
        for line in lines.iter() {
            if self.settings.unique {
                let bare = line.strip_suffix(&[self.end]).unwrap_or(line);
                if let Some(previous) = previous {
                    self.order.pay(sys, previous, bare)?;
                    if self.order.compare(previous, bare).is_eq() {
                        continue;
                    }
                }
                previous = Some(bare);
            }
            out.put(sys, line)?;
            if out.failed() {
                break;
            }
        }
        self.finish(sys, out)
    }

    /// Opens what `-o` names. The input was read by then, so it may be one of the inputs.
    fn target(&self, sys: &mut dyn System) -> Result<Result<Fd, i32>, Stop> {
        let Some(path) = &self.settings.output else {
            return Ok(Ok(1));
        };
        match failed(sys.open(path, OpenHow::WRITE))? {
            Ok(fd) => Ok(Ok(fd)),
            Err(errno) => Ok(Err(self.cannot(sys, b"open failed", path, errno)?)),
        }
    }

    fn finish(&self, sys: &mut dyn System, out: Output) -> Result<i32, Stop> {
        // GNU tells a write that failed on the way from one that failed in the end.
        let on_the_way = out.failed();
        let Err(errno) = out.finish(sys)? else {
            return Ok(0);
        };
        let name = self
            .settings
            .output
            .as_deref()
            .unwrap_or(b"standard output");
        let name = quote_name(sys.utf8(), name);
        let text = errno.text().as_bytes();
        if on_the_way {
            return fail(sys, self.args, 2, &[b"write failed: ", &name, b": ", text]);
        }
        fail(sys, self.args, 2, &[b"fflush failed: ", &name, b": ", text])?;
        if self.settings.output.is_none() {
            fail(sys, self.args, 2, &[b"write error"])?;
        }
        Ok(2)
    }

    fn merge(&self, sys: &mut dyn System, files: &[Vec<u8>], held: &mut Held) -> Result<i32, Stop> {
        let mut inputs = Vec::with_capacity(files.len());
        for file in files {
            match failed(Input::open(sys, file))? {
                Ok(input) => inputs.push(input),
                Err(errno) => return self.cannot(sys, b"cannot read", file, errno),
            }
        }
        // The output may be one of the inputs, so it is held back until they have been read.
        if self.settings.output.is_some() {
            let mut whole = Vec::new();
            let done = merge(
                sys,
                &mut inputs,
                self.order,
                self.end,
                self.settings.unique,
                held,
                |sys, held, line| {
                    held.more(sys, line.len())?;
                    whole.extend_from_slice(line);
                    Ok(())
                },
            );
            if let Err((at, errno)) = self.merged(done)? {
                return self.cannot(
                    sys,
                    b"read failed",
                    files.get(at).map_or(b"-", Vec::as_slice),
                    errno,
                );
            }
            let mut out = match self.target(sys)? {
                Ok(fd) => Output::new(fd),
                Err(status) => return Ok(status),
            };
            out.put(sys, &whole)?;
            return self.finish(sys, out);
        }
        let mut out = Output::new(1);
        let done = merge(
            sys,
            &mut inputs,
            self.order,
            self.end,
            self.settings.unique,
            held,
            |sys, _, line| out.put(sys, line),
        );
        for input in inputs {
            input.close(sys);
        }
        if let Err((at, errno)) = self.merged(done)? {
            out.flush(sys)?;
            return self.cannot(
                sys,
                b"read failed",
                files.get(at).map_or(b"-", Vec::as_slice),
                errno,
            );
        }
        self.finish(sys, out)
    }

    fn merged(
        &self,
        done: Result<(), (usize, SysError)>,
    ) -> Result<Result<(), (usize, Errno)>, Stop> {
        match done {
            Ok(()) => Ok(Ok(())),
            Err((_, SysError::Stop(stop))) => Err(stop),
            Err((at, SysError::Errno(errno))) => Ok(Err((at, errno))),
        }
    }

    /// Tells whether a file is sorted, and where it is not.
    fn check(
        &self,
        sys: &mut dyn System,
        files: &[Vec<u8>],
        how: char,
        held: &mut Held,
    ) -> Result<i32, Stop> {
        let file = files.first().map_or(&b"-"[..], Vec::as_slice);
        let mut input = match failed(Input::open(sys, file))? {
            Ok(input) => input,
            Err(errno) => return self.cannot(sys, b"open failed", file, errno),
        };
        let mut previous: Option<Vec<u8>> = None;
        let mut number = 0u64;
        let wrong = loop {
            let line = match failed(input.record(sys, self.end))? {
                Ok(Some(line)) => line.strip_suffix(&[self.end]).unwrap_or(line),
                Ok(None) => break None,
                Err(errno) => return self.cannot(sys, b"read failed", file, errno),
            };
            number += 1;
            let kept = previous.get_or_insert_default();
            if number > 1 {
                self.order.pay(sys, kept, line)?;
                let order = self.order.compare(kept, line);
                if order.is_gt() || order.is_eq() && self.settings.unique {
                    break Some(line.to_vec());
                }
            }
            held.copy(sys, kept, line)?;
        };
        input.close(sys);
        let Some(line) = wrong else {
            return Ok(0);
        };
        if how == 'c' {
            let name = quote_name_if_odd(sys.utf8(), file);
            let number = number.to_string();
            let parts: &[&[u8]] = &[&name, b":", number.as_bytes(), b": disorder: ", &line];
            fail(sys, self.args, 1, parts)?;
        }
        Ok(1)
    }
}
