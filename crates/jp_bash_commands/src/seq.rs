//! `seq`: numbers in a row, exactly: decimals are added as scaled integers, and digits have no limit going up by whole steps.

use jp_bash_system::io::{Output, complain};
use jp_bash_system::{Stop, System};

use super::Spec;
use super::awk::format as printf;
use super::options::{Order, Takes, opt, parse};
use super::say::{self, HELP, VERSION};

/// `seq`
pub(crate) const SPEC: Spec = Spec {
    name: "seq",
    about: "print a sequence of numbers",
    run,
    options: &[
        opt('f', Some(b'f'), Some("format"), Takes::Required),
        opt('s', Some(b's'), Some("separator"), Takes::Required),
        opt('w', Some(b'w'), Some("equal-width"), Takes::Nothing),
        HELP,
        VERSION,
    ],
};

/// A decimal number: `digits / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    digits: i128,
    places: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Exact(Decimal),
    /// `inf` or `-inf`.
    Endless(bool),
}

struct Call {
    format: Option<Vec<u8>>,
    separator: Vec<u8>,
    equal_width: bool,
}

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let args = protect(args);
    let Ok(parsed) = parse(sys, &args, SPEC.options, Order::Stop)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(
        sys,
        &parsed.options,
        "seq",
        "seq [OPTION]... [FIRST [INCREMENT]] LAST",
    )? {
        return Ok(status);
    }
    let mut call = Call {
        format: None,
        separator: b"\n".to_vec(),
        equal_width: false,
    };
    for (id, value) in parsed.options {
        match id {
            'f' => call.format = value,
            's' => call.separator = value.unwrap_or_default(),
            'w' => call.equal_width = true,
            _ => {}
        }
    }
    let one = b"1".to_vec();
    let (first, step, last) = match parsed.operands.as_slice() {
        [] => return say::misused(sys, b"seq", b"missing operand", 1),
        [last] => (&one, &one, last),
        [first, last] => (first, &one, last),
        [first, step, last] => (first, step, last),
        [_, _, _, extra, ..] => {
            let shown = say::quoted(sys, extra);
            return say::misused(
                sys,
                b"seq",
                &[b"extra operand ", shown.as_slice()].concat(),
                1,
            );
        }
    };
    if let Some(message) = call
        .format
        .as_deref()
        .and_then(|format| wrong_format(sys, format))
    {
        complain(sys, b"seq", &message)?;
        return Ok(1);
    }
    if call.format.is_some() && call.equal_width {
        let message = b"format string may not be specified when printing equal width strings";
        return say::misused(sys, b"seq", message, 1);
    }
    let plain = call.format.is_none() && !call.equal_width;
    if plain && whole(first) && whole(last) && whole(step) && !is_zero(step) && step.len() < 19 {
        return count_up(sys, first, step, last, &call);
    }
    let mut numbers = [Number::Endless(false); 3];
    for (slot, text) in numbers.iter_mut().zip([first, step, last]) {
        match number(text) {
            Some(found) => *slot = found,
            None => {
                let nan = text.to_ascii_lowercase().ends_with(b"nan");
                let shown = say::quoted(sys, text);
                let message = if nan {
                    [
                        b"invalid ",
                        say::quoted(sys, b"not-a-number").as_slice(),
                        b" argument: ",
                        &shown,
                    ]
                    .concat()
                } else {
                    [b"invalid floating point argument: ", shown.as_slice()].concat()
                };
                return say::misused(sys, b"seq", &message, 1);
            }
        }
    }
    let [first_number, step_number, last_number] = numbers;
    let (Number::Exact(first_number), Number::Exact(step_number)) = (first_number, step_number)
    else {
        complain(sys, b"seq", b"an infinite start or step is not supported")?;
        return Ok(1);
    };
    if step_number.digits == 0 {
        let shown = say::quoted(sys, step);
        return say::misused(
            sys,
            b"seq",
            &[b"invalid Zero increment value: ", shown.as_slice()].concat(),
            1,
        );
    }
    let from = [
        (first_number, first.as_slice()),
        (step_number, step.as_slice()),
    ];
    count(sys, from, (last_number, last.as_slice()), &call)
}

/// Puts `--` before the first operand, so that `-3` is a number and no option.
fn protect(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(args.len() + 1);
    let mut rest = args.iter();
    out.extend(rest.next().cloned());
    while let Some(arg) = rest.next() {
        let negative = matches!(
            arg.as_slice(),
            [b'-', b'0'..=b'9' | b'.', ..] | [b'-', b'i' | b'I', b'n' | b'N', ..]
        );
        let ends = negative || arg.first() != Some(&b'-') || arg == b"--" || arg == b"-";
        if ends {
            if arg != b"--" {
                out.push(b"--".to_vec());
            }
            out.push(arg.clone());
            out.extend(rest.cloned());
            break;
        }
        let takes = matches!(
            arg.as_slice(),
            b"-f" | b"-s" | b"-wf" | b"-ws" | b"--format" | b"--separator"
        );
        out.push(arg.clone());
        if takes {
            out.extend(rest.next().cloned());
        }
    }
    out
}

fn whole(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn is_zero(text: &[u8]) -> bool {
    text.iter().all(|b| *b == b'0')
}

/// Reads a number: decimal with an exponent, hexadecimal, or `inf`.
fn number(text: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(text).ok()?.trim_start();
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if body.eq_ignore_ascii_case("inf") || body.eq_ignore_ascii_case("infinity") {
        return Some(Number::Endless(negative));
    }
    let signed = |digits: i128| if negative { -digits } else { digits };
    if let Some(hex) = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        let digits = i128::from_str_radix(hex, 16)
            .ok()
            .filter(|_| !hex.starts_with(['-', '+']))?;
        return Some(Number::Exact(Decimal {
            digits: signed(digits),
            places: 0,
        }));
    }
    let (mantissa, power) = match body.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse::<i32>().ok()?),
        None => (body, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{before}{after}");
    if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut digits: i128 = all.parse().ok()?;
    let mut places = i32::try_from(after.len()).ok()?.checked_sub(power)?;
    while places < 0 {
        digits = digits.checked_mul(10)?;
        places += 1;
    }
    // More places than a sum can hold are no number we can add.
    let places = u32::try_from(places).ok().filter(|places| *places <= 30)?;
    Some(Number::Exact(Decimal {
        digits: signed(digits),
        places,
    }))
}

impl Decimal {
    fn scaled(self, places: u32) -> Option<i128> {
        self.digits
            .checked_mul(10_i128.checked_pow(places.checked_sub(self.places)?)?)
    }
}

/// Counts up in the digits themselves: as fast as printing, and as long as one likes.
fn count_up(
    sys: &mut dyn System,
    first: &[u8],
    step: &[u8],
    last: &[u8],
    call: &Call,
) -> Result<i32, Stop> {
    let trim = |text: &[u8]| -> Vec<u8> {
        let zeros = text.iter().take_while(|b| **b == b'0').count();
        text.get(usize::min(zeros, text.len() - 1)..)
            .unwrap_or_default()
            .to_vec()
    };
    let (mut now, last) = (trim(first), trim(last));
    let step = step
        .iter()
        .fold(0_u64, |sum, b| sum * 10 + u64::from(b - b'0'));
    let mut out = Output::new(1);
    let mut printed = 0_u32;
    while (now.len(), &now) <= (last.len(), &last) {
        let buffer = out.buffer();
        if printed > 0 {
            buffer.extend_from_slice(&call.separator);
        }
        buffer.extend_from_slice(&now);
        printed = printed.wrapping_add(1) | 1;
        let mut carry = step;
        for digit in now.iter_mut().rev() {
            let sum = u64::from(*digit - b'0') + carry;
            *digit = b'0' + u8::try_from(sum % 10).unwrap_or(0);
            carry = sum / 10;
            if carry == 0 {
                break;
            }
        }
        while carry > 0 {
            now.insert(0, b'0' + u8::try_from(carry % 10).unwrap_or(0));
            carry /= 10;
        }
        if out.buffer().len() >= jp_bash_system::io::CHUNK {
            sys.work(32)?;
            out.settle(sys)?;
            if out.failed() {
                break;
            }
        }
    }
    finish(sys, out, printed > 0)
}

fn finish(sys: &mut dyn System, mut out: Output, any: bool) -> Result<i32, Stop> {
    if any {
        out.put(sys, b"\n")?;
    }
    match out.finish(sys)? {
        Ok(()) => Ok(0),
        Err(errno) => {
            complain(
                sys,
                b"seq",
                &[b"write error: ", errno.text().as_bytes()].concat(),
            )?;
            Ok(1)
        }
    }
}

/// Counts in scaled integers.
fn count(
    sys: &mut dyn System,
    [(first, first_text), (step, _)]: [(Decimal, &[u8]); 2],
    (last, last_text): (Number, &[u8]),
    call: &Call,
) -> Result<i32, Stop> {
    let places = u32::max(first.places, step.places);
    let widths = [
        written_width(first_text, places),
        written_width(last_text, places),
    ];
    let scale = match last {
        Number::Exact(last) => u32::max(places, last.places),
        Number::Endless(_) => places,
    };
    let bounds = match last {
        Number::Exact(last) => last.scaled(scale),
        Number::Endless(down) => Some(if down { i128::MIN } else { i128::MAX }),
    };
    let (Some(mut now), Some(by), Some(end)) = (first.scaled(scale), step.scaled(scale), bounds)
    else {
        complain(sys, b"seq", b"the numbers have too many digits")?;
        return Ok(1);
    };
    let shown = |value: i128| text_of(value, scale, places);
    let width = if call.equal_width {
        let last = if let Number::Exact(_) = last {
            shown(end).len()
        } else {
            0
        };
        widths
            .into_iter()
            .fold(usize::max(shown(now).len(), last), usize::max)
    } else {
        0
    };
    let mut out = Output::new(1);
    let mut any = false;
    while if by > 0 { now <= end } else { now >= end } {
        sys.work(1)?;
        if any {
            out.put(sys, &call.separator)?;
        }
        any = true;
        match &call.format {
            Some(format) => {
                let text = formatted(sys, format, now, scale)?;
                out.put(sys, &text)?;
            }
            None => out.put(sys, &padded(&shown(now), width))?,
        }
        if out.failed() {
            break;
        }
        match now.checked_add(by) {
            Some(next) => now = next,
            None => break,
        }
    }
    finish(sys, out, any)
}

/// Returns how wide an operand is as it was written, zeros in front included, with so many places.
fn written_width(text: &[u8], places: u32) -> usize {
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if !digits.iter().all(|b| b.is_ascii_digit() || *b == b'.') {
        return 0;
    }
    let whole = memchr::memchr(b'.', text).unwrap_or(text.len());
    let places = places as usize;
    whole + places + usize::from(places > 0)
}

/// Writes a scaled integer with so many places.
fn text_of(value: i128, scale: u32, places: u32) -> Vec<u8> {
    let unit = 10_u128.saturating_pow(scale);
    let magnitude = value.unsigned_abs();
    let mut text = String::new();
    if value < 0 {
        text.push('-');
    }
    text.push_str(&(magnitude / unit).to_string());
    if places > 0 {
        let fraction = format!("{:0width$}", magnitude % unit, width = scale as usize);
        text.push('.');
        text.push_str(fraction.get(..places as usize).unwrap_or(&fraction));
    }
    text.into_bytes()
}

/// Puts zeros between the sign and the digits.
fn padded(text: &[u8], width: usize) -> Vec<u8> {
    let missing = width.saturating_sub(text.len());
    let (sign, digits): (&[u8], &[u8]) = match text {
        [b'-', digits @ ..] => (b"-", digits),
        digits => (b"", digits),
    };
    [sign, &vec![b'0'; missing], digits].concat()
}

/// Says what is wrong with a format: it must have one conversion, of a floating point number.
fn wrong_format(sys: &dyn System, format: &[u8]) -> Option<Vec<u8>> {
    let shown = say::quoted(sys, format);
    let name = [b"format ", shown.as_slice()].concat();
    let mut at = 0;
    let mut found = 0;
    while at < format.len() {
        if format.get(at) != Some(&b'%') {
            at += 1;
            continue;
        }
        if format.get(at + 1) == Some(&b'%') {
            at += 2;
            continue;
        }
        at += 1;
        let skip = |at: usize, set: &[u8]| {
            at + format
                .iter()
                .skip(at)
                .take_while(|b| set.contains(b))
                .count()
        };
        at = skip(at, b"-+#0 '");
        at = skip(at, b"0123456789");
        if format.get(at) == Some(&b'.') {
            at = skip(at + 1, b"0123456789");
        }
        at = skip(at, b"L");
        match format.get(at) {
            None => return Some([name.as_slice(), b" ends in %"].concat()),
            Some(letter) if !b"efgaEFGA".contains(letter) => {
                return Some(
                    [
                        name.as_slice(),
                        b" has unknown %",
                        &[*letter],
                        b" directive",
                    ]
                    .concat(),
                );
            }
            Some(_) => found += 1,
        }
        at += 1;
    }
    match found {
        0 => Some([name.as_slice(), b" has no % directive"].concat()),
        1 => None,
        _ => Some([name.as_slice(), b" has too many % directives"].concat()),
    }
}

/// The one value of a format.
struct One<'s> {
    sys: &'s mut dyn System,
    value: f64,
}

impl printf::Args for One<'_> {
    type Error = Stop;
    fn num(&mut self) -> Result<f64, Stop> {
        Ok(self.value)
    }
    fn char(&mut self) -> Result<printf::Char, Stop> {
        Ok(printf::Char::Code(self.value))
    }
    fn text(&mut self, _out: &mut Vec<u8>) -> Result<(), Stop> {
        Ok(())
    }
    fn claim(&mut self, bytes: usize) -> Result<(), Stop> {
        // Held for one line only.
        self.sys.reserve(bytes as u64)?;
        self.sys.release(bytes as u64);
        Ok(())
    }
}

fn formatted(
    sys: &mut dyn System,
    format: &[u8],
    value: i128,
    scale: u32,
) -> Result<Vec<u8>, Stop> {
    let text = text_of(value, scale, scale);
    let value = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0);
    let mut out = Vec::new();
    printf::format(&mut out, format, &mut One { sys, value }, false)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::run;

    #[test]
    fn counts_as_seq_does() {
        let table: &[(&[&str], &str)] = &[
            (&["seq", "3"], "1\n2\n3\n"),
            (&["seq", "0"], ""),
            (&["seq", "8", "11"], "8\n9\n10\n11\n"),
            (&["seq", "-w", "8", "11"], "08\n09\n10\n11\n"),
            (&["seq", "-w", "-5", "5", "5"], "-5\n00\n05\n"),
            (&["seq", "1", ".5", "3"], "1.0\n1.5\n2.0\n2.5\n3.0\n"),
            (&["seq", "3", "-1", "1"], "3\n2\n1\n"),
            (&["seq", "0.1", "0.1", "0.5"], "0.1\n0.2\n0.3\n0.4\n0.5\n"),
            (&["seq", "1e2", "1e2", "3e2"], "100\n200\n300\n"),
            (&["seq", "-s", ",", "5"], "1,2,3,4,5\n"),
            (&["seq", "-3", "-1"], "-3\n-2\n-1\n"),
            (
                &["seq", "99999999999999999999", "100000000000000000001"],
                "99999999999999999999\n100000000000000000000\n100000000000000000001\n",
            ),
            (&["seq", "-f", "x%5.2fy", "2"], "x 1.00y\nx 2.00y\n"),
            (
                &["seq", "-w", "0.5", "1", "10"],
                "00.5\n01.5\n02.5\n03.5\n04.5\n05.5\n06.5\n07.5\n08.5\n09.5\n",
            ),
            (&["seq", "5", "7", "30"], "5\n12\n19\n26\n"),
        ];
        for (words, stdout) in table {
            assert_eq!(
                Fixture::default().run(run, words).stdout,
                *stdout,
                "{words:?}"
            );
        }
    }

    #[test]
    fn wrong_words_are_refused() {
        for words in [
            &["seq"][..],
            &["seq", "a"],
            &["seq", "1", "0", "5"],
            &["seq", "1", "2", "3", "4"],
            &["seq", "-f", "%d", "3"],
            &["seq", "-f", "x", "3"],
            &["seq", "nan"],
            &["seq", "-f", "%f%f", "1"],
        ] {
            assert_eq!(
                Fixture::default().run(run, words).status,
                Ok(1),
                "{words:?}"
            );
        }
    }

    #[test]
    fn endless_output_ends_with_its_reader() {
        let mut fixture = Fixture::default();
        fixture.pipe_closes_after = Some(100);
        assert!(fixture.run(run, &["seq", "1", "inf"]).status.is_err());
        assert!(fixture.run(run, &["seq", "1000000000000"]).status.is_err());
    }
}
