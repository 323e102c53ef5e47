//! `whoami`: the virtual user.

use jp_bash_system::{Stop, System};

use super::Spec;
use super::options::{Order, parse};
use super::say::{self, HELP, VERSION};

/// `whoami`
pub(crate) const SPEC: Spec = Spec {
    name: "whoami",
    about: "print the user's name",
    run,
    options: &[HELP, VERSION],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "whoami", "whoami [OPTION]...")? {
        return Ok(status);
    }
    if let Some(operand) = parsed.operands.first() {
        let shown = say::quoted(sys, operand);
        return say::misused(
            sys,
            b"whoami",
            &[b"extra operand ", shown.as_slice()].concat(),
            1,
        );
    }
    let mut name = sys.user();
    name.push(b'\n');
    say::print(sys, b"whoami", &name)
}
