//! `printenv`: exported variables.

use jp_bash_system::io::Output;
use jp_bash_system::{Stop, System};

use super::options::{Order, Takes, opt, parse};
use super::say::{self, HELP, VERSION};
use super::{Spec, env};

/// `printenv`
pub(crate) const SPEC: Spec = Spec {
    name: "printenv",
    about: "print the environment, or parts of it",
    run,
    options: &[
        opt('0', Some(b'0'), Some("null"), Takes::Nothing),
        HELP,
        VERSION,
    ],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Stop)? else {
        return Ok(2);
    };
    if let Some(status) = say::answered(
        sys,
        &parsed.options,
        "printenv",
        "printenv [OPTION]... [VARIABLE]...",
    )? {
        return Ok(status);
    }
    let end = if parsed.options.is_empty() { b'\n' } else { 0 };
    if parsed.operands.is_empty() {
        let environ = sys.environ()?;
        let status = env::list(sys, b"printenv", &environ, end)?;
        return Ok(if status == 0 { 0 } else { 2 });
    }
    let mut out = Output::new(1);
    let mut missing = false;
    for name in &parsed.operands {
        match sys.env(name) {
            Some(value) => {
                out.put(sys, &value)?;
                out.put(sys, &[end])?;
            }
            None => missing = true,
        }
    }
    let status = say::finished(sys, b"printenv", out)?;
    Ok(if status == 0 { i32::from(missing) } else { 2 })
}
