//! `factor`: the primes that make up numbers.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "factor",
    about: "Prints the prime factors of numbers.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('h', Some(b'h'), Some("exponents"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `factor`; without operands the numbers come from standard input.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[NUMBER]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let exponents = parsed.options.iter().any(|(id, _)| *id == 'h');
    for operand in &parsed.operands {
        print(&mut cmd, operand, exponents)?;
    }
    if parsed.operands.is_empty() {
        let mut input = Input::new(0);
        while let Some(line) = failed(input.record(cmd.sys, b'\n'))?.unwrap_or_default() {
            let line = line.to_vec();
            for word in line.split(u8::is_ascii_whitespace) {
                if !word.is_empty() {
                    print(&mut cmd, word, exponents)?;
                }
            }
        }
        input.close(cmd.sys);
    }
    cmd.finish()
}

fn print(cmd: &mut Cmd<'_>, word: &[u8], exponents: bool) -> Result<(), Stop> {
    let text = word.trim_ascii_start();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let digits = digits.strip_prefix(b"-").map_or(digits, |_| b"");
    let number: Option<u128> = std::str::from_utf8(digits)
        .ok()
        .and_then(|t| t.parse().ok());
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let Some(number) = number.filter(|_| plain) else {
        let shown = cmd.quote(word);
        return if plain {
            cmd.error(&[&shown, b" is too large"])
        } else {
            cmd.error(&[&shown, b" is not a valid positive integer"])
        };
    };
    let mut line = format!("{number}:");
    let mut found = Vec::new();
    split(cmd.sys, number, &mut found)?;
    found.sort_unstable();
    for same in found.chunk_by(|a, b| a == b) {
        let Some(prime) = same.first() else { continue };
        match same.len() {
            n if exponents && n > 1 => line.push_str(&format!(" {prime}^{n}")),
            n => line.push_str(&format!(" {prime}").repeat(n)),
        }
    }
    line.push('\n');
    cmd.put(line.as_bytes())
}

/// Collects the primes of a number, in any order.
fn split(sys: &mut dyn System, number: u128, found: &mut Vec<u128>) -> Result<(), Stop> {
    let mut rest = number;
    if rest < 2 {
        return Ok(());
    }
    for prime in (2..1000).filter(|n| *n < 4 || n % 2 == 1) {
        while rest.is_multiple_of(prime) {
            found.push(prime);
            rest /= prime;
        }
    }
    let mut open = vec![rest];
    while let Some(number) = open.pop() {
        if number == 1 {
            continue;
        }
        sys.turns(1)?;
        // What has no factor below 1000 and is below its square is prime.
        if number < 1_000_000 || is_prime(number) {
            found.push(number);
            continue;
        }
        let divisor = divisor(sys, number)?;
        open.extend([divisor, number / divisor]);
    }
    Ok(())
}

/// Multiplies modulo a number that may have all 128 bits.
fn multiply(mut a: u128, mut b: u128, modulus: u128) -> u128 {
    if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
        return u128::from(x) * u128::from(y) % modulus;
    }
    let add = |x: u128, y: u128| {
        if x >= modulus - y {
            x - (modulus - y)
        } else {
            x + y
        }
    };
    let mut sum = 0;
    a %= modulus;
    while b > 0 {
        if b & 1 == 1 {
            sum = add(sum, a);
        }
        a = add(a, a);
        b >>= 1;
    }
    sum
}

fn power(base: u128, mut exponent: u128, modulus: u128) -> u128 {
    let (mut result, mut base) = (1, base % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base, modulus);
        }
        base = multiply(base, base, modulus);
        exponent >>= 1;
    }
    result
}

/// Miller and Rabin's test; with these bases it is sure up to 3.3e24, and beyond that as good as.
fn is_prime(number: u128) -> bool {
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41]
        .iter()
        .all(|base| {
            let mut x = power(*base, odd, number);
            if x == 1 || x == number - 1 {
                return true;
            }
            (1..twos).any(|_| {
                x = multiply(x, x, number);
                x == number - 1
            })
        })
}

/// Finds a divisor of a composite number with Pollard's rho; each turn is counted.
fn divisor(sys: &mut dyn System, number: u128) -> Result<u128, Stop> {
    for offset in 1.. {
        let step = |x: u128| (multiply(x, x, number) + offset) % number;
        let (mut slow, mut fast) = (2, 2);
        loop {
            sys.turns(1)?;
            slow = step(slow);
            fast = step(step(fast));
            let common = gcd(slow.abs_diff(fast), number);
            if common == number {
                break;
            }
            if common > 1 {
                return Ok(common);
            }
        }
    }
    Ok(number)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
