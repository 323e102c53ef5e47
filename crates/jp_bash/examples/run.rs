//! Runs a script in the virtual bash: `run -c TEXT [NAME [ARGS…]]` or `run FILE [ARGS…]`.

use std::io::{Read, Write};
use std::process::ExitCode;

use jp_bash::{Bash, ExecOptions};

fn main() -> ExitCode {
    let mut args = std::env::args_os()
        .skip(1)
        .map(|arg| arg.into_encoded_bytes());
    let mut options = ExecOptions::default();
    let script = match args.next() {
        Some(flag) if flag == b"-c" => {
            let script = args.next().unwrap_or_default();
            options.name = args.next().unwrap_or_default();
            script
        }
        Some(file) => {
            let path = String::from_utf8_lossy(&file).into_owned();
            options.name = file;
            options.script = true;
            match std::fs::read(&path) {
                Ok(script) => script,
                Err(error) => {
                    let _said = writeln!(std::io::stderr(), "run: {path}: {error}");
                    return ExitCode::from(127);
                }
            }
        }
        None => {
            let mut script = Vec::new();
            let _read = std::io::stdin().read_to_end(&mut script);
            script
        }
    };
    options.args = args.collect();
    let result = Bash::new().exec_with(&script, &options, None);
    let _out = std::io::stdout().write_all(&result.stdout);
    let _err = std::io::stderr().write_all(&result.stderr);
    ExitCode::from(u8::try_from(result.exit_code & 255).unwrap_or(1))
}
