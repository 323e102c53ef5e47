//! Does a list of file operations and reports each, as a program of WASI preview 1: arguments on
//! standard input, the answer on standard output.

use std::io::{self, Read, Write};

use jp_probes::files;

fn main() -> io::Result<()> {
    let mut arguments = String::new();
    io::stdin().read_to_string(&mut arguments)?;
    io::stdout().write_all(files::reports(&arguments).as_bytes())
}
