//! What a program may use up: memory, descriptors, CPU time.

use std::path::Path;

use jp_confine::MemoryScope;

use crate::bench::{launcher, nothing, probe, sh, try_run, words};

#[test]
fn f63_a_memory_bomb_is_bounded() {
    let mut confinement = nothing();
    confinement.limits.memory_bytes = 256 << 20;
    let done = probe(confinement.clone(), "takes_memory", "300");
    assert!(done.out.contains("said refused"), "{done:?}");
    let done = probe(confinement, "takes_memory", "50");
    assert!(done.out.contains("said taken"), "{done:?}");
}

/// What the limit is shown as is what holds: where it is each process's, two may have it each.
#[test]
fn f63_the_memory_of_all_processes_is_bounded_where_it_is_said_to_be() {
    let mut confinement = nothing();
    confinement.limits.memory_bytes = 256 << 20;
    let done = probe(confinement, "two_take_memory", "150");
    match launcher().memory_scope().unwrap() {
        MemoryScope::EachProcess => assert!(done.out.contains("said both"), "{done:?}"),
        MemoryScope::AllProcesses => assert!(!done.out.contains("said both"), "{done:?}"),
    }
}

/// They reserve gigabytes of addresses, which are not memory.
#[test]
fn runtimes_of_languages_start_under_the_usual_memory_limit() {
    let mut confinement = nothing();
    confinement.limits.memory_bytes = 1 << 30;
    let wasm = "new WebAssembly.Memory({initial: 1}); console.log('node')";
    for (program, args, said) in [
        ("/usr/bin/node", &["-e", wasm][..], "node"),
        (
            "/usr/bin/python3",
            &["-c", "import json; print('python')"],
            "python",
        ),
    ] {
        if Path::new(program).exists() {
            let done = try_run(&confinement, program.as_ref(), &words(args)).unwrap();
            assert_eq!(
                (done.code, done.out.trim()),
                (0, said),
                "{program} {done:?}"
            );
        }
    }
}

#[test]
fn f63_a_descriptor_bomb_is_bounded() {
    let mut confinement = nothing();
    confinement.limits.open_files = 40;
    let done = probe(confinement, "opens_files", "1000");
    let said = done
        .out
        .split("said ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    let opened: u32 = said.parse().unwrap();
    assert!((20..40).contains(&opened), "{opened}");
}

#[test]
fn cpu_time_is_bounded() {
    let mut confinement = nothing();
    confinement.limits.cpu_seconds = 1;
    let done = sh(&confinement, "while :; do :; done");
    assert!(done.code == 128 + 24 || done.code == 137, "{done:?}");
}

#[test]
fn no_limit_can_be_raised_again() {
    for flag in ["-d", "-n", "-f", "-t"] {
        let done = sh(&nothing(), &format!("ulimit {flag} unlimited"));
        assert_ne!(done.code, 0, "{flag} was raised");
    }
    assert_eq!(sh(&nothing(), "ulimit -c").out, "0\n");
}
