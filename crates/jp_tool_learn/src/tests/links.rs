//! Links and special files: nothing leads out of a topic, and nothing blocks.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use insta::assert_snapshot;

use super::{
    hostile::{ask, list},
    lay_out, strings,
};
use crate::{ScanError, scan, scan_beneath};

#[test]
fn links_out_of_the_topic_lead_nowhere() {
    let dir = lay_out(&[("topic/real.md", "real\n"), ("secret.md", "SECRET")]);
    let topic = dir.path().join("topic");
    symlink("../secret.md", topic.join("up.md")).unwrap();
    symlink(dir.path().join("secret.md"), topic.join("absolute.md")).unwrap();
    symlink("..", topic.join("parent")).unwrap();
    symlink("missing.md", topic.join("dangling.md")).unwrap();
    symlink("circle-b.md", topic.join("circle-a.md")).unwrap();
    symlink("circle-a.md", topic.join("circle-b.md")).unwrap();
    fs::create_dir(topic.join("sub")).unwrap();
    symlink("..", topic.join("sub/loop")).unwrap();
    symlink("../real.md", topic.join("sub/alias.md")).unwrap();
    assert_snapshot!(list(&topic), @r#"
        # Topic: t

        ## Available subjects:

        - real
        - sub/alias

        Use the `learn` tool with the `subjects` argument to learn specific subjects.

        ## Left out:

        - `absolute.md`: a link that leads outside the topic, in a circle or to nothing
        - `circle-a.md`: a link that leads outside the topic, in a circle or to nothing
        - `circle-b.md`: a link that leads outside the topic, in a circle or to nothing
        - `dangling.md`: a link that leads outside the topic, in a circle or to nothing
        - `parent`: a link that leads outside the topic, in a circle or to nothing
        - `sub/loop`: links to directories are not followed
        - `up.md`: a link that leads outside the topic, in a circle or to nothing
        "#);
    assert_eq!(ask(&topic, r#""sub/alias""#), "real\n");
    for escape in [
        "up",
        "absolute",
        "parent/secret",
        "../secret",
        "sub/loop/real",
    ] {
        let text = ask(&topic, &format!("\"{escape}\""));
        assert!(text.starts_with("error: No subject matches"), "{text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
}

#[test]
fn a_link_put_in_place_of_a_file_after_the_walk_does_not_escape() {
    let dir = lay_out(&[("topic/a.md", "a"), ("secret.md", "SECRET")]);
    let topic = dir.path().join("topic");
    let found = scan(&topic, &[], &strings(&["a"])).unwrap();
    fs::remove_file(topic.join("a.md")).unwrap();
    symlink("../secret.md", topic.join("a.md")).unwrap();
    let preloaded = found.load_learned(1000);
    assert!(preloaded.subjects.is_empty());
    assert_eq!(preloaded.notes, ["`a` was skipped: permission denied"]);
}

#[test]
fn a_topic_directory_that_is_a_link_out_of_the_workspace_is_refused() {
    let dir = lay_out(&[("home/key.md", "SECRET"), ("ws/kb/a.md", "a")]);
    let workspace = dir.path().join("ws");
    symlink("../home", workspace.join("evil")).unwrap();
    assert!(
        scan_beneath(&workspace, Path::new("kb"), &[], &[])
            .unwrap()
            .is_learnable()
    );
    for path in ["evil", "../home", "kb/../../home", "missing", "kb/a.md"] {
        let error = scan_beneath(&workspace, Path::new(path), &[], &[]).unwrap_err();
        assert!(
            matches!(error, ScanError::Unreadable { .. }),
            "{path}: {error}"
        );
    }
}

#[test]
fn fifos_and_sockets_are_left_out_and_never_waited_for() {
    let dir = lay_out(&[("a.md", "a")]);
    let fifo = dir.path().join("pipe.md");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("sock")).unwrap();
    assert_snapshot!(list(dir.path()), @r#"
        # Topic: t

        ## Available subjects:

        - a

        Use the `learn` tool with the `subjects` argument to learn specific subjects.

        ## Left out:

        - `pipe.md`: not a regular file
        - `sock`: not a regular file
        "#);
    // Swapped in after the walk, a FIFO must not block either.
    let found = scan(dir.path(), &[], &strings(&["a"])).unwrap();
    fs::rename(&fifo, dir.path().join("a.md")).unwrap();
    assert_eq!(
        found.load_learned(1000).notes,
        ["`a` was skipped: not a regular file"]
    );
}

#[test]
fn remarks_do_not_give_away_hidden_or_disabled_names() {
    let dir = lay_out(&[]);
    for name in ["shown.md", ".hidden.md", "disabled.md"] {
        symlink("missing", dir.path().join(name)).unwrap();
    }
    let found = scan(dir.path(), &strings(&["disabled"]), &[]).unwrap();
    assert_eq!(found.notes().len(), 1);
    assert!(found.notes()[0].starts_with("`shown.md`: a link that leads outside"));
}
