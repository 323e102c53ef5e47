//! `read`: one record from a descriptor, split into variables.

use std::time::Duration;

use jp_bash_system::{Budget, Errno, Fd, Stop, SysError, System, Whence};

use super::args::{Getopt, number};
use crate::Shell;
use crate::flow::Flow;
use crate::vars::access::{Assigned, is_name};
use crate::vars::ifs::Ifs;
use crate::vars::subscript::split_target;
use crate::vars::{Bytes, known};

/// About what one field of an array takes while the list of them grows.
const FIELD: usize = 4 * size_of::<Bytes>();

const USAGE: &str = "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]";

struct Wanted {
    raw: bool,
    array: Option<Vec<u8>>,
    delimiter: u8,
    /// Characters at most.
    most: Option<usize>,
    /// `-N`: the delimiter is text.
    exact: bool,
    timeout: Option<Duration>,
    /// `-p`
    prompt: Vec<u8>,
    fd: Fd,
}

/// What was read: bytes, and which of them a backslash protects.
#[derive(Default)]
pub(super) struct Record {
    text: Vec<u8>,
    protected: Vec<usize>,
    /// It ended as asked, not at the end of the input.
    complete: bool,
    /// The time was over first.
    late: bool,
}

/// `read`
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut wanted = Wanted {
        raw: false,
        array: None,
        delimiter: b'\n',
        most: None,
        exact: false,
        timeout: None,
        prompt: Vec::new(),
        fd: 0,
    };
    let mut options = Getopt::new(args, "ersa:d:i:n:N:p:t:u:");
    loop {
        let given = match options.next() {
            Ok(Some(given)) => given,
            Ok(None) => break,
            Err(bad) => return shell.bad_option(b"read", &bad, USAGE),
        };
        let value = given.value.unwrap_or_default();
        if !option(&mut wanted, given.letter, value) {
            let what: &[u8] = match given.letter {
                b't' => b": invalid timeout specification",
                b'u' => b": invalid file descriptor specification",
                _ => b": invalid number",
            };
            shell.complain_as(b"read", &[value, what].concat())?;
            return Ok(1);
        }
    }
    let names = options.rest();
    // Only the first name is looked at before anything is read.
    for name in names.iter().take(1).chain(&wanted.array) {
        if split_target(name).is_none() {
            shell.complain_as(
                b"read",
                &[b"`", name.as_slice(), b"': not a valid identifier"].concat(),
            )?;
            return Ok(1);
        }
    }
    if shell.fds.get(wanted.fd).is_none() {
        let text = match wanted.fd {
            0 => "read error: 0: Bad file descriptor".to_owned(),
            fd => format!("{fd}: invalid file descriptor: Bad file descriptor"),
        };
        shell.complain_as(b"read", text.as_bytes())?;
        return Ok(1);
    }
    if wanted.timeout == Some(Duration::ZERO) {
        return Ok(i32::from(!shell.wait_readable(wanted.fd, Duration::ZERO)?));
    }
    if shell.is_tty(wanted.fd) {
        shell.print_error(&wanted.prompt)?;
    }
    let record = match read_record(shell, &wanted)? {
        Ok(record) => record,
        Err(errno) => {
            let text = format!("read error: {}: {errno}", wanted.fd);
            shell.complain_as(b"read", text.as_bytes())?;
            return Ok(1);
        }
    };
    let assigned = assign(shell, &wanted, names, &record)?;
    Ok(if record.late {
        // As if SIGALRM had ended it.
        142
    } else if assigned == Assigned::Done && record.complete {
        0
    } else {
        1
    })
}

/// Takes an option; `false` if its argument is wrong.
fn option(wanted: &mut Wanted, letter: u8, value: &[u8]) -> bool {
    match letter {
        b'r' => wanted.raw = true,
        b'a' => wanted.array = Some(value.to_vec()),
        b'd' => wanted.delimiter = value.first().copied().unwrap_or(0),
        b'n' | b'N' => match number(value).and_then(|n| usize::try_from(n).ok()) {
            Some(most) => {
                wanted.most = Some(most);
                wanted.exact = letter == b'N';
            }
            None => return false,
        },
        b't' => {
            let plain = value
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.');
            // As bash: nothing at all is no time, and a time that no clock reaches is no limit.
            let seconds = match value {
                b"" => Some(0.0),
                _ => std::str::from_utf8(value)
                    .ok()
                    .and_then(|t| t.parse::<f64>().ok()),
            };
            match seconds.filter(|_| plain) {
                Some(seconds) => wanted.timeout = Duration::try_from_secs_f64(seconds).ok(),
                None => return false,
            }
        }
        b'u' => match number(value).and_then(|n| Fd::try_from(n).ok()) {
            Some(fd) => wanted.fd = fd,
            None => return false,
        },
        b'p' => wanted.prompt = value.to_vec(),
        // Editing is for terminals.
        _ => {}
    }
    true
}

/// Reads bytes from a descriptor without taking more than needed: what can seek is read ahead and given back.
struct Bytewise {
    fd: Fd,
    buf: [u8; 512],
    start: usize,
    end: usize,
    seekable: bool,
    /// The byte that nothing is taken behind; without one, bytes are taken one at a time.
    last: Option<u8>,
    /// When to give up.
    until: Option<Duration>,
    late: bool,
}

impl Bytewise {
    fn new(shell: &mut Shell<'_>, fd: Fd) -> Self {
        let seekable = shell.seek(fd, Whence::Current(0)).is_ok();
        Self {
            fd,
            buf: [0; 512],
            start: 0,
            end: 0,
            seekable,
            last: None,
            until: None,
            late: false,
        }
    }

    fn next(&mut self, shell: &mut Shell<'_>) -> Result<Option<u8>, SysError> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if let Some(until) = self.until
                && !shell.wait_readable(self.fd, until)?
            {
                self.late = true;
                return Ok(None);
            }
            self.end = match self.last {
                _ if self.seekable => shell.read(self.fd, &mut self.buf)?,
                Some(last) => shell.read_until(self.fd, &mut self.buf, last)?,
                None => shell.read(self.fd, self.buf.get_mut(..1).unwrap_or_default())?,
            };
            if self.end == 0 {
                return Ok(None);
            }
        }
        let byte = self.buf.get(self.start).copied();
        self.start += 1;
        Ok(byte)
    }

    fn finish(self, shell: &mut Shell<'_>) {
        let unread = i64::try_from(self.end - self.start).unwrap_or(0);
        if unread > 0 {
            let _ = shell.seek(self.fd, Whence::Current(-unread));
        }
    }
}

fn read_record(shell: &mut Shell<'_>, wanted: &Wanted) -> Result<Result<Record, Errno>, Flow> {
    let mut record = Record::default();
    if wanted.most == Some(0) {
        record.complete = true;
        return Ok(Ok(record));
    }
    let mut input = Bytewise::new(shell, wanted.fd);
    input.last = wanted.most.is_none().then_some(wanted.delimiter);
    input.until = wanted
        .timeout
        .map(|time| shell.kernel.monotonic().saturating_add(time));
    let result = fill(shell, wanted, &mut input, &mut record);
    record.late = input.late;
    input.finish(shell);
    let held = record.text.capacity() as u64;
    shell
        .kernel
        .budget
        .release(if held > 4096 { held } else { 0 });
    match result {
        Ok(()) => Ok(Ok(record)),
        Err(SysError::Errno(errno)) => Ok(Err(errno)),
        Err(SysError::Stop(stop)) => Err(stop.into()),
    }
}

fn fill(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    input: &mut Bytewise,
    record: &mut Record,
) -> Result<(), SysError> {
    let utf8 = shell.utf8();
    let mut characters = 0;
    let mut escaped = false;
    let mut partial = 0_u8;
    loop {
        if wanted.most.is_none() && !escaped && !wanted.exact {
            take_plain(shell, wanted, input, record)?;
        }
        let Some(byte) = input.next(shell)? else {
            return Ok(());
        };
        if !escaped && byte == wanted.delimiter && !wanted.exact {
            record.complete = true;
            return Ok(());
        }
        if !escaped && byte == b'\\' && !wanted.raw {
            escaped = true;
            continue;
        }
        if escaped && byte == b'\n' {
            // A line goes on behind a backslash.
            escaped = false;
            continue;
        }
        if byte == 0 {
            continue;
        }
        let len = record.text.len();
        if len == record.text.capacity() && len >= 4096 {
            shell.kernel.budget.reserve(len as u64)?;
        }
        if std::mem::take(&mut escaped) {
            let places = record.protected.len();
            if places == record.protected.capacity() && places >= 512 {
                shell.kernel.budget.room(places * size_of::<usize>() * 3)?;
            }
            record.protected.push(len);
        }
        record.text.push(byte);
        if let Some(most) = wanted.most {
            partial = match byte {
                _ if !utf8 => 0,
                0xc2..=0xdf => 1,
                0xe0..=0xef => 2,
                0xf0..=0xf4 => 3,
                _ => partial.saturating_sub(1),
            };
            if partial == 0 {
                characters += 1;
                if characters >= most {
                    record.complete = true;
                    return Ok(());
                }
            }
        }
    }
}

/// Takes what was read ahead up to the next byte that needs a look.
fn take_plain(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    input: &mut Bytewise,
    record: &mut Record,
) -> Result<(), SysError> {
    let ahead = input.buf.get(input.start..input.end).unwrap_or_default();
    let quote = if wanted.raw { 0 } else { b'\\' };
    let end = memchr::memchr3(wanted.delimiter, 0, quote, ahead).unwrap_or(ahead.len());
    let plain = ahead.get(..end).unwrap_or_default();
    let (len, room) = (record.text.len(), record.text.capacity());
    if len + plain.len() > room && len >= 4096 {
        shell
            .kernel
            .budget
            .reserve(usize::max(len, plain.len()) as u64)?;
    }
    record.text.extend_from_slice(plain);
    input.start += plain.len();
    Ok(())
}

impl Record {
    /// Finds the first separator at or after a place.
    fn separator(&self, ifs: &Ifs, from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(found) = ifs.find(self.text.get(at..)?) {
            at += found;
            if self.protected.binary_search(&at).is_err() {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    fn is_space(&self, ifs: &Ifs, at: usize) -> bool {
        self.text.get(at).is_some_and(|byte| ifs.is_space(*byte))
            && self.protected.binary_search(&at).is_err()
    }

    fn skip_spaces(&self, ifs: &Ifs, mut at: usize) -> usize {
        while self.is_space(ifs, at) {
            at += 1;
        }
        at
    }

    /// Returns the end of the field that starts here and where the next one starts.
    fn field(&self, ifs: &Ifs, from: usize) -> (usize, usize) {
        let Some(end) = self.separator(ifs, from) else {
            return (self.text.len(), self.text.len());
        };
        let mut next = self.skip_spaces(ifs, end);
        let other = ifs.length(self.text.get(next..).unwrap_or_default());
        if other > 0 && self.protected.binary_search(&next).is_err() {
            next = self.skip_spaces(ifs, next + other);
        }
        (end, next)
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Splits everything, as for an array.
    fn fields(&self, ifs: &Ifs, budget: &Budget) -> Result<Vec<Bytes>, Stop> {
        let mut fields = Vec::new();
        let mut at = self.skip_spaces(ifs, 0);
        while at < self.text.len() {
            let (end, next) = self.field(ifs, at);
            if fields.len() % 1024 == 1023 {
                // The list may double, and each field is a text of its own.
                budget.room(fields.len().saturating_mul(FIELD).saturating_add(at))?;
            }
            fields.push(Bytes::from(self.slice(at, end)));
            at = next;
        }
        Ok(fields)
    }
}

fn assign(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    names: &[Vec<u8>],
    record: &Record,
) -> Result<Assigned, Flow> {
    let ifs = shell.vars.ifs();
    if let Some(array) = &wanted.array {
        let name = shell.intern(array)?;
        let fields = record.fields(&ifs, &shell.kernel.budget)?;
        return shell.set_array(name, fields);
    }
    if names.is_empty() {
        return shell.set_var(known::REPLY, Bytes::from(record.text.as_slice()));
    }
    let mut result = Assigned::Done;
    let mut at = if wanted.exact {
        0
    } else {
        record.skip_spaces(&ifs, 0)
    };
    for (count, name) in names.iter().enumerate() {
        let last = count + 1 == names.len();
        let value = if wanted.exact {
            let whole = if count == 0 { record.text.len() } else { 0 };
            record.slice(0, whole)
        } else {
            let (end, next) = record.field(&ifs, at);
            let from = at;
            at = next;
            if last && next < record.text.len() {
                let mut end = record.text.len();
                while end > from && record.is_space(&ifs, end - 1) {
                    end -= 1;
                }
                record.slice(from, end)
            } else {
                record.slice(from, end)
            }
        };
        let value = Bytes::from(value);
        if split_target(name).is_none() {
            let text = [b"`", name.as_slice(), b"': not a valid identifier"].concat();
            shell.complain_as(b"read", &text)?;
            return Ok(Assigned::Refused);
        }
        let done = if is_name(name) {
            let name = shell.intern(name)?;
            shell.set_var(name, value)?
        } else {
            shell.set_target(name, value)?
        };
        if done == Assigned::Refused {
            result = Assigned::Refused;
            break;
        }
    }
    Ok(result)
}
