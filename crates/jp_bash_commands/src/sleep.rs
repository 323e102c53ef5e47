//! `sleep`: waits, within the run's time limit.

use std::time::Duration;

use jp_bash_system::io::complain;
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::options::{Order, parse};
use super::say::{self, HELP, VERSION};

/// `sleep`
pub(crate) const SPEC: Spec = Spec {
    name: "sleep",
    about: "wait for some time",
    run,
    options: &[HELP, VERSION],
};

/// The longest wait asked for at once: 30 years.
const LONGEST: f64 = 1e9;

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "sleep", "sleep NUMBER[SUFFIX]...")? {
        return Ok(status);
    }
    if parsed.operands.is_empty() {
        return say::misused(sys, b"sleep", b"missing operand", 1);
    }
    let mut total = 0.0;
    let mut bad = false;
    for operand in &parsed.operands {
        match say::seconds(operand) {
            Some(seconds) => total += seconds,
            None => {
                let shown = say::quoted(sys, operand);
                complain(
                    sys,
                    b"sleep",
                    &[b"invalid time interval ", shown.as_slice()].concat(),
                )?;
                bad = true;
            }
        }
    }
    if bad {
        return say::misused(sys, b"sleep", b"", 1);
    }
    while total > 0.0 {
        let piece = f64::min(total, LONGEST);
        failed(sys.sleep(Duration::from_secs_f64(piece)))?.ok();
        total -= piece;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::run;

    #[test]
    fn durations_have_suffixes_and_fractions() {
        let table: &[(&[&str], i32)] = &[
            (&["sleep", "0"], 0),
            (&["sleep", "0.5", "1m", ".2s"], 0),
            (&["sleep"], 1),
            (&["sleep", "1x"], 1),
            (&["sleep", "-1"], 1),
            (&["sleep", ""], 1),
        ];
        for (words, status) in table {
            assert_eq!(
                Fixture::default().run(run, words).status,
                Ok(*status),
                "{words:?}"
            );
        }
    }
}
