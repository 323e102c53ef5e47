//! `hostname`: the virtual machine's name, which cannot be changed.

use jp_bash_system::io::complain;
use jp_bash_system::{Stop, System};

use super::Spec;
use super::options::{Order, Takes, opt, parse, refused};
use super::say;

const READ_ONLY: &str = "the name is fixed";

/// `hostname`
pub(crate) const SPEC: Spec = Spec {
    name: "hostname",
    about: "print the machine's name",
    run,
    options: &[
        opt('a', Some(b'a'), Some("alias"), Takes::Nothing),
        opt('A', Some(b'A'), Some("all-fqdns"), Takes::Nothing),
        opt('d', Some(b'd'), Some("domain"), Takes::Nothing),
        opt('f', Some(b'f'), Some("fqdn"), Takes::Nothing),
        opt('f', None, Some("long"), Takes::Nothing),
        opt('i', Some(b'i'), Some("ip-address"), Takes::Nothing),
        opt('I', Some(b'I'), Some("all-ip-addresses"), Takes::Nothing),
        opt('s', Some(b's'), Some("short"), Takes::Nothing),
        opt(say::HELP.id, Some(b'h'), Some("help"), Takes::Nothing),
        opt(say::VERSION.id, Some(b'V'), Some("version"), Takes::Nothing),
        refused(Some(b'b'), Some("boot"), Takes::Nothing, READ_ONLY),
        refused(Some(b'F'), Some("file"), Takes::Required, READ_ONLY),
        refused(Some(b'y'), Some("yp"), Takes::Nothing, "no NIS"),
        refused(None, Some("nis"), Takes::Nothing, "no NIS"),
    ],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(255);
    };
    if let Some(status) = say::answered(
        sys,
        &parsed.options,
        "hostname",
        "hostname [-a|-A|-d|-f|-i|-I|-s]",
    )? {
        return Ok(status);
    }
    if !parsed.operands.is_empty() {
        complain(
            sys,
            b"hostname",
            b"you must be root to change the host name",
        )?;
        return Ok(1);
    }
    let full = sys.host_name();
    let mut parts = full.splitn(2, |b| *b == b'.');
    let short = parts.next().unwrap_or_default().to_vec();
    let domain = parts.next().unwrap_or_default().to_vec();
    let mut shown = match parsed.options.last() {
        Some(('s', _)) => short,
        Some(('d', _)) => domain,
        Some(('a', _)) => Vec::new(),
        Some(('i' | 'I', _)) => b"127.0.0.1".to_vec(),
        _ => full,
    };
    shown.push(b'\n');
    say::print(sys, b"hostname", &shown)
}
