//! `nproc`: a run is one thread, whatever the host has.

use jp_bash_system::{Stop, System};

use super::Spec;
use super::options::{Order, Takes, opt, parse};
use super::say::{self, HELP, VERSION};

/// `nproc`
pub(crate) const SPEC: Spec = Spec {
    name: "nproc",
    about: "print the number of processors",
    run,
    options: &[
        opt('a', None, Some("all"), Takes::Nothing),
        opt('i', None, Some("ignore"), Takes::Required),
        HELP,
        VERSION,
    ],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "nproc", "nproc [OPTION]...")? {
        return Ok(status);
    }
    for (id, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        if *id == 'i' && (value.is_empty() || !value.iter().all(u8::is_ascii_digit)) {
            let shown = say::quoted(sys, value);
            jp_bash_system::io::complain(
                sys,
                b"nproc",
                &[b"invalid number: ", shown.as_slice()].concat(),
            )?;
            return Ok(1);
        }
    }
    if let Some(operand) = parsed.operands.first() {
        let shown = say::quoted(sys, operand);
        return say::misused(
            sys,
            b"nproc",
            &[b"extra operand ", shown.as_slice()].concat(),
            1,
        );
    }
    say::print(sys, b"nproc", b"1\n")
}
