//! All the tests once more as an ordinary user, for whom the kernel goes other ways.

use crate::bench::elsewhere;

#[test]
fn every_test_passes_for_an_ordinary_user_too() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let wrapper = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    if let Some(done) = elsewhere(&wrapper, &["--test-threads=2"]) {
        assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    }
}
