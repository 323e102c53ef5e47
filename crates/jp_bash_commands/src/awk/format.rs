//! `printf`: a format and values to bytes. Also `OFMT` and `CONVFMT`.

use super::chars;
use super::number;

/// One conversion of a format.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// What the formatter needs from outside.
pub(crate) trait Args {
    type Error;
    /// Returns the next value as a number.
    fn num(&mut self) -> Result<f64, Self::Error>;
    /// Returns the next value for `%c`: a number, or the text.
    fn char(&mut self) -> Result<Char, Self::Error>;
    /// Appends the next value's text to the buffer.
    fn text(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
    /// Asks for memory before that many bytes are produced.
    fn claim(&mut self, bytes: usize) -> Result<(), Self::Error>;
}

/// A value for `%c`.
pub(crate) enum Char {
    Code(f64),
    Text(Vec<u8>),
}

/// Formats values.
pub(crate) fn format<A: Args>(
    out: &mut Vec<u8>,
    format: &[u8],
    args: &mut A,
    utf8: bool,
) -> Result<(), A::Error> {
    let mut at = 0;
    loop {
        let rest = format.get(at..).unwrap_or_default();
        let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        at += plain;
        if at >= format.len() {
            return Ok(());
        }
        let start = at;
        let mut spec = Spec::default();
        at = read_spec(format, at + 1, &mut spec, args)?;
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(format.get(start..).unwrap_or_default());
            return Ok(());
        };
        at += 1;
        args.claim(spec.width.saturating_add(spec.precision.unwrap_or(0)))?;
        match conversion {
            b'%' => out.push(b'%'),
            b'd' | b'i' => {
                let num = args.num()?;
                integer(out, spec, num);
            }
            b'o' | b'x' | b'X' | b'u' => {
                let num = args.num()?;
                unsigned(out, spec, conversion, num);
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                let num = args.num()?;
                float(out, spec, conversion, num);
            }
            b'a' | b'A' => {
                let num = args.num()?;
                hex_float(out, spec, conversion, num);
            }
            b'c' => {
                let text = match args.char()? {
                    Char::Code(code) => encode(code, utf8),
                    // As in C, where the text ends in a NUL.
                    Char::Text(text) if text.is_empty() => vec![0],
                    Char::Text(text) => {
                        let len = if utf8 {
                            chars::len(&text)
                        } else {
                            usize::min(text.len(), 1)
                        };
                        text.get(..len).unwrap_or_default().to_vec()
                    }
                };
                pad(out, spec, &text, chars::count(&text, utf8));
            }
            b's' => string(out, spec, args, utf8)?,
            _ => out.extend_from_slice(format.get(start..at).unwrap_or_default()),
        }
    }
}

/// Reads flags, width and precision; returns where the conversion's letter is.
fn read_spec<A: Args>(
    format: &[u8],
    mut at: usize,
    spec: &mut Spec,
    args: &mut A,
) -> Result<usize, A::Error> {
    loop {
        match format.get(at) {
            Some(b'-') => spec.left = true,
            Some(b'+') => spec.plus = true,
            Some(b' ') => spec.space = true,
            Some(b'#') => spec.alternate = true,
            Some(b'0') => spec.zero = true,
            Some(b'\'') => {}
            _ => break,
        }
        at += 1;
    }
    if format.get(at) == Some(&b'*') {
        at += 1;
        let width = args.num()?;
        spec.left |= width < 0.0;
        spec.width = size(width.abs());
    } else {
        (spec.width, at) = digits(format, at);
    }
    if format.get(at) == Some(&b'.') {
        at += 1;
        if format.get(at) == Some(&b'*') {
            at += 1;
            let precision = args.num()?;
            spec.precision = (precision >= 0.0).then(|| size(precision));
        } else {
            let (precision, end) = digits(format, at);
            spec.precision = Some(precision);
            at = end;
        }
    }
    while matches!(
        format.get(at),
        Some(b'l' | b'h' | b'L' | b'q' | b'j' | b'z' | b't')
    ) {
        at += 1;
    }
    Ok(at)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates"
)]
fn size(num: f64) -> usize {
    num as usize
}

fn digits(format: &[u8], mut at: usize) -> (usize, usize) {
    let mut value = 0_usize;
    while let Some(digit) = format.get(at).filter(|b| b.is_ascii_digit()) {
        value = value
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'));
        at += 1;
    }
    (value, at)
}

fn string<A: Args>(
    out: &mut Vec<u8>,
    spec: Spec,
    args: &mut A,
    utf8: bool,
) -> Result<(), A::Error> {
    let start = out.len();
    args.text(out)?;
    if let Some(most) = spec.precision {
        let text = out.get(start..).unwrap_or_default();
        let keep = chars::offset(text, most, utf8);
        out.truncate(start + keep);
    }
    if spec.width == 0 {
        return Ok(());
    }
    let width = chars::count(out.get(start..).unwrap_or_default(), utf8);
    let missing = spec.width.saturating_sub(width);
    if missing > 0 {
        out.resize(out.len() + missing, b' ');
        if !spec.left
            && let Some(text) = out.get_mut(start..)
        {
            text.rotate_right(missing);
        }
    }
    Ok(())
}

/// Returns the character of a code; what is none in UTF-8 is its low byte.
fn encode(code: f64, utf8: bool) -> Vec<u8> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates; awk keeps the low bits"
    )]
    let code = code as i64 as u64;
    let wide = u32::try_from(code).ok().and_then(char::from_u32);
    match wide {
        Some(c) if utf8 => {
            let mut buf = [0; 4];
            c.encode_utf8(&mut buf).as_bytes().to_vec()
        }
        _ => vec![u8::try_from(code & 255).unwrap_or(0)],
    }
}

fn pad(out: &mut Vec<u8>, spec: Spec, text: &[u8], width: usize) {
    let missing = spec.width.saturating_sub(width);
    if !spec.left {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
}

/// Appends sign, digits and padding: zeros go between sign and digits.
fn place(out: &mut Vec<u8>, spec: Spec, sign: &[u8], body: &[u8], zeros: bool) {
    let missing = spec.width.saturating_sub(sign.len() + body.len());
    let zeros = zeros && spec.zero && !spec.left;
    if !spec.left && !zeros {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(sign);
    if zeros {
        out.resize(out.len() + missing, b'0');
    }
    out.extend_from_slice(body);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
}

fn sign_of(negative: bool, spec: Spec) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        _ => b"",
    }
}

/// Pads digits to the precision.
fn at_least(digits: Vec<u8>, precision: Option<usize>) -> Vec<u8> {
    match precision {
        Some(0) if digits == b"0" => Vec::new(),
        Some(least) if least > digits.len() => {
            let mut padded = vec![b'0'; least - digits.len()];
            padded.extend_from_slice(&digits);
            padded
        }
        _ => digits,
    }
}

/// Appends a word instead of a number; gawk does not pad it.
fn not_finite(out: &mut Vec<u8>, num: f64) {
    out.extend_from_slice(number::special(num));
}

fn integer(out: &mut Vec<u8>, spec: Spec, num: f64) {
    if !num.is_finite() {
        return not_finite(out, num);
    }
    let whole = num.trunc();
    let mut digits = Vec::with_capacity(24);
    match number::integer(whole.abs()) {
        Some(int) => number::push_int(&mut digits, int),
        None => digits.extend_from_slice(format!("{:.0}", whole.abs()).as_bytes()),
    }
    let digits = at_least(digits, spec.precision);
    let sign = sign_of(whole < 0.0, spec);
    place(out, spec, sign, &digits, spec.precision.is_none());
}

fn unsigned(out: &mut Vec<u8>, spec: Spec, conversion: u8, num: f64) {
    if !num.is_finite() {
        return not_finite(out, num);
    }
    let whole = num.trunc();
    if !(-9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&whole) {
        // Too large for a word: gawk falls back to `%g`.
        return float(out, spec, b'g', num);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked; negative numbers wrap as in C"
    )]
    let word = if whole < 0.0 {
        whole as i64 as u64
    } else {
        whole as u64
    };
    let digits = match conversion {
        b'o' => format!("{word:o}"),
        b'x' => format!("{word:x}"),
        b'X' => format!("{word:X}"),
        _ => word.to_string(),
    };
    let mut digits = at_least(digits.into_bytes(), spec.precision);
    let mut sign: &[u8] = b"";
    if spec.alternate && word != 0 {
        match conversion {
            b'o' if digits.first() != Some(&b'0') => digits.insert(0, b'0'),
            b'x' => sign = b"0x",
            b'X' => sign = b"0X",
            _ => {}
        }
    }
    place(out, spec, sign, &digits, spec.precision.is_none());
}

/// Digits after the point beyond which only zeros follow, for any double.
const MOST_DIGITS: usize = 1100;

fn float(out: &mut Vec<u8>, spec: Spec, conversion: u8, num: f64) {
    if !num.is_finite() {
        return not_finite(out, num);
    }
    let precision = spec.precision.unwrap_or(6);
    let sign = sign_of(num.is_sign_negative(), spec);
    let num = num.abs();
    let mut body = match conversion {
        b'f' | b'F' => fixed(num, precision),
        b'e' | b'E' => exponent(num, precision),
        _ => general(num, precision, spec.alternate),
    };
    if spec.alternate && !body.contains(&b'.') {
        let at = body.iter().position(|b| *b == b'e').unwrap_or(body.len());
        body.insert(at, b'.');
    }
    if conversion.is_ascii_uppercase() {
        body.make_ascii_uppercase();
    }
    place(out, spec, sign, &body, true);
}

fn fixed(num: f64, precision: usize) -> Vec<u8> {
    let shown = usize::min(precision, MOST_DIGITS);
    let mut text = format!("{num:.shown$}").into_bytes();
    text.resize(text.len() + (precision - shown), b'0');
    text
}

fn exponent(num: f64, precision: usize) -> Vec<u8> {
    let shown = usize::min(precision, MOST_DIGITS);
    let text = format!("{num:.shown$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let mut out = digits.as_bytes().to_vec();
    out.resize(out.len() + (precision - shown), b'0');
    let sign = if power < 0 { '-' } else { '+' };
    out.extend_from_slice(format!("e{sign}{:02}", power.abs()).as_bytes());
    out
}

fn general(num: f64, precision: usize, keep_zeros: bool) -> Vec<u8> {
    let precision = usize::max(precision, 1);
    let shown = usize::min(precision - 1, MOST_DIGITS);
    let text = format!("{num:.shown$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let most = i32::try_from(precision).unwrap_or(i32::MAX);
    let mut out = if power < -4 || power >= most {
        digits.as_bytes().to_vec()
    } else {
        let after = usize::try_from(most - 1 - power).unwrap_or(0);
        format!("{num:.0$}", usize::min(after, MOST_DIGITS)).into_bytes()
    };
    if !keep_zeros && out.contains(&b'.') {
        while out.last() == Some(&b'0') {
            out.pop();
        }
        if out.last() == Some(&b'.') {
            out.pop();
        }
    }
    if power < -4 || power >= most {
        let sign = if power < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", power.abs()).as_bytes());
    }
    out
}

fn hex_float(out: &mut Vec<u8>, spec: Spec, conversion: u8, num: f64) {
    if !num.is_finite() {
        return not_finite(out, num);
    }
    let bits = num.to_bits();
    let raw = (bits >> 52) & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    let lead = u64::from(raw != 0);
    let power = match (raw, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => i64::try_from(raw).unwrap_or(0) - 1023,
    };
    let mut digits = format!("{fraction:013x}");
    while digits.ends_with('0') && digits.len() > spec.precision.unwrap_or(0) {
        digits.pop();
    }
    let point = if digits.is_empty() { "" } else { "." };
    let mut body = format!("0x{lead}{point}{digits}p{power:+}").into_bytes();
    if conversion == b'A' {
        body.make_ascii_uppercase();
    }
    place(
        out,
        spec,
        sign_of(num.is_sign_negative(), spec),
        &body,
        false,
    );
}

/// Appends a number by `OFMT` or `CONVFMT`.
pub(super) fn push_number(out: &mut Vec<u8>, num: f64, convfmt: &[u8]) {
    if number::push_plain(out, num) {
        return;
    }
    if convfmt == b"%.6g" {
        // The usual one, without reading it again.
        let spec = Spec {
            precision: Some(6),
            ..Spec::default()
        };
        return float(out, spec, b'g', num);
    }
    struct One(f64);
    impl Args for One {
        type Error = std::convert::Infallible;
        fn num(&mut self) -> Result<f64, Self::Error> {
            Ok(self.0)
        }
        fn char(&mut self) -> Result<Char, Self::Error> {
            Ok(Char::Code(self.0))
        }
        fn text(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error> {
            float(
                out,
                Spec {
                    precision: Some(6),
                    ..Spec::default()
                },
                b'g',
                self.0,
            );
            Ok(())
        }
        fn claim(&mut self, _bytes: usize) -> Result<(), Self::Error> {
            Ok(())
        }
    }
    // A width of a gigabyte in CONVFMT would be paid on every conversion: such formats are not taken.
    if convfmt.len() > 32 || longest_run(convfmt) > 3 || convfmt.contains(&b'*') {
        return push_number(out, num, b"%.6g");
    }
    match format(out, convfmt, &mut One(num), false) {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Returns the most digits in a row.
fn longest_run(format: &[u8]) -> usize {
    format
        .split(|byte| !byte.is_ascii_digit())
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}
