//! Where the system cannot confine, the call is refused and the reader learns what to do.

use jp_confine::ConfineError;

use crate::bench::{elsewhere, launcher, nothing};

#[test]
fn this_system_can_confine() {
    if std::env::var_os("JP_NO_NAMESPACES").is_none() {
        launcher().support().unwrap();
    }
}

/// What `f65_without_namespaces_the_call_is_refused` runs where there are none.
#[test]
fn refuses_and_says_why() {
    if std::env::var_os("JP_NO_NAMESPACES").is_none() {
        return;
    }
    let launcher = launcher();
    let Err(ConfineError::Unsupported { problem, hint }) = launcher.support() else {
        panic!("it says that it can confine");
    };
    assert!(problem.contains("create namespaces"), "{problem}");
    assert!(hint.contains("user.max_user_namespaces"), "{hint}");
    let refused = launcher.command(&nothing(), "true".as_ref(), &[]);
    assert!(matches!(refused, Err(ConfineError::Unsupported { .. })));
}

#[test]
fn f65_without_namespaces_the_call_is_refused() {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && JP_NO_NAMESPACES=1 exec \"$@\"";
    let wrapper = [
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        script,
        "sh",
    ];
    if let Some(done) = elsewhere(&wrapper, &["--exact", "support::refuses_and_says_why"]) {
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("1 passed"), "{done:?}");
    }
}
