//! Prints how long a few things take: `speed [SCRIPT…]`.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use jp_bash::Bash;

fn time(name: &str, turns: u32, mut body: impl FnMut()) {
    body();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..turns {
            body();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(turns));
    }
    let _said = writeln!(std::io::stdout(), "{best:10.3} µs  {name}");
}

fn main() {
    let scripts: Vec<String> = std::env::args().skip(1).collect();
    let mut warm = Bash::new();
    warm.exec(b"f() { :; }");
    time("new session, echo hi", 200, || {
        black_box(Bash::new().exec(b"echo hi"));
    });
    for script in [
        "echo hi",
        "( : )",
        "x=$(echo a)",
        "echo a | cat",
        "for ((i=0;i<1000;i++)); do :; done",
        "for ((i=0;i<1000;i++)); do ((s+=i)); done",
        "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done",
        "for ((i=0;i<1000;i++)); do f; done",
        "for ((i=0;i<1000;i++)); do ( : ); done",
        "for ((i=0;i<1000;i++)); do x=$(echo); done",
        "for ((i=0;i<1000;i++)); do echo a | cat; done >/dev/null",
        "a=(); for ((i=0;i<1000;i++)); do a+=($i); done",
        "seq 1000 | while read x; do :; done",
        "yes | head -1",
        "seq 1 1000000000000 | head -1",
    ]
    .iter()
    .map(|script| (*script).to_owned())
    .chain(scripts)
    {
        time(&script, 20, || {
            black_box(warm.exec(script.as_bytes()));
        });
    }
}
