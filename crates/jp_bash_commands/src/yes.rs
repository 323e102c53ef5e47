//! `yes`: the same line until nobody reads it.

use jp_bash_system::io::{CHUNK, complain};
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::options::{Order, parse};
use super::say::{self, HELP, VERSION};

/// `yes`
pub(crate) const SPEC: Spec = Spec {
    name: "yes",
    about: "print a line again and again",
    run,
    options: &[HELP, VERSION],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "yes", "yes [STRING]...")? {
        return Ok(status);
    }
    let mut line = parsed.operands.join(&b' ');
    if parsed.operands.is_empty() {
        line.push(b'y');
    }
    line.push(b'\n');
    let block = line.repeat(usize::max(CHUNK / line.len(), 1));
    loop {
        sys.work(32)?;
        if let Err(errno) = failed(sys.write(1, &block))? {
            complain(
                sys,
                b"yes",
                &[b"standard output: ", errno.text().as_bytes()].concat(),
            )?;
            return Ok(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::run;
    use jp_bash_system::Stop;

    #[test]
    fn stops_when_the_reader_is_gone() {
        let mut fixture = Fixture::default();
        fixture.pipe_closes_after = Some(10);
        let ran = fixture.run(run, &["yes", "a", "b"]);
        assert_eq!(ran.status, Err(Stop::Signal(13)));
        assert!(ran.stdout.starts_with("a b\na b\n"));
    }
}
