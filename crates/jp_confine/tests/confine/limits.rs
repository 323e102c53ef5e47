//! What a program may use up: memory, descriptors, CPU time.

use crate::bench::{nothing, probe, sh};

#[test]
fn f63_a_memory_bomb_is_bounded() {
    let mut confinement = nothing();
    confinement.limits.memory_bytes = 256 << 20;
    let done = probe(confinement.clone(), "takes_memory", "300");
    assert!(done.out.contains("said refused"), "{done:?}");
    let done = probe(confinement, "takes_memory", "50");
    assert!(done.out.contains("said taken"), "{done:?}");
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
    for flag in ["-v", "-n", "-f", "-t"] {
        let done = sh(&nothing(), &format!("ulimit {flag} unlimited"));
        assert_ne!(done.code, 0, "{flag} was raised");
    }
    assert_eq!(sh(&nothing(), "ulimit -c").out, "0\n");
}
