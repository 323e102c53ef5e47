//! `uname`: a Linux that does not exist.

use jp_bash_system::{Stop, System};

use super::Spec;
use super::options::{Order, Takes, opt, parse};
use super::say::{self, HELP, VERSION};

/// `uname`
pub(crate) const SPEC: Spec = Spec {
    name: "uname",
    about: "print the system's name",
    run,
    options: &[
        opt('a', Some(b'a'), Some("all"), Takes::Nothing),
        opt('s', Some(b's'), Some("kernel-name"), Takes::Nothing),
        opt('n', Some(b'n'), Some("nodename"), Takes::Nothing),
        opt('r', Some(b'r'), Some("kernel-release"), Takes::Nothing),
        opt('v', Some(b'v'), Some("kernel-version"), Takes::Nothing),
        opt('m', Some(b'm'), Some("machine"), Takes::Nothing),
        opt('p', Some(b'p'), Some("processor"), Takes::Nothing),
        opt('i', Some(b'i'), Some("hardware-platform"), Takes::Nothing),
        opt('o', Some(b'o'), Some("operating-system"), Takes::Nothing),
        HELP,
        VERSION,
    ],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "uname", "uname [OPTION]...")? {
        return Ok(status);
    }
    if let Some(operand) = parsed.operands.first() {
        let shown = say::quoted(sys, operand);
        return say::misused(
            sys,
            b"uname",
            &[b"extra operand ", shown.as_slice()].concat(),
            1,
        );
    }
    let asked = |id: char| parsed.options.iter().any(|(found, _)| *found == id);
    let host = sys.host_name();
    // With `-a`, what is unknown is left out.
    let facts: [(char, &[u8]); 8] = [
        ('s', b"Linux"),
        ('n', &host),
        ('r', b"6.1.0-virtual"),
        ('v', b"#1 SMP virtual"),
        ('m', b"x86_64"),
        ('p', b"unknown"),
        ('i', b"unknown"),
        ('o', b"GNU/Linux"),
    ];
    let shown: Vec<&[u8]> = facts
        .iter()
        .filter(|(id, text)| {
            asked(*id)
                || (asked('a') && *text != b"unknown")
                || (parsed.options.is_empty() && *id == 's')
        })
        .map(|(_, text)| *text)
        .collect();
    let mut line = shown.join(&b' ');
    line.push(b'\n');
    say::print(sys, b"uname", &line)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::run;

    #[test]
    fn tells_virtual_facts_only() {
        let table: &[(&[&str], &str)] = &[
            (&["uname"], "Linux\n"),
            (&["uname", "-sm"], "Linux x86_64\n"),
            (&["uname", "-n"], "host\n"),
            (
                &["uname", "-a"],
                "Linux host 6.1.0-virtual #1 SMP virtual x86_64 GNU/Linux\n",
            ),
        ];
        for (words, stdout) in table {
            assert_eq!(Fixture::default().run(run, words).stdout, *stdout);
        }
    }
}
