//! Files of modules with WASI preview 1, as the functions themselves see them: no C library stands
//! between these guests and the host. What honest and hostile programs do with files is tested
//! with the same list as for components, in `security_files`.

mod odd;

use std::{fs, os::unix::fs::symlink};

use jp_test::{
    Access, Host, Kit,
    abi::{Abi, entry},
    text,
};
use jp_wasm::ToolTemp;

use crate::content;

/// The functions that the modules here import, with their types.
const IMPORTS: [(&str, &str); 12] = [
    ("fd_close", "(param i32) (result i32)"),
    ("fd_prestat_dir_name", "(param i32 i32 i32) (result i32)"),
    ("fd_pwrite", "(param i32 i32 i32 i64 i32) (result i32)"),
    ("fd_read", "(param i32 i32 i32 i32) (result i32)"),
    ("fd_readdir", "(param i32 i32 i32 i64 i32) (result i32)"),
    ("fd_renumber", "(param i32 i32) (result i32)"),
    ("fd_seek", "(param i32 i64 i32 i32) (result i32)"),
    ("fd_write", "(param i32 i32 i32 i32) (result i32)"),
    (
        "path_open",
        "(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)",
    ),
    (
        "path_filestat_get",
        "(param i32 i32 i32 i32 i32) (result i32)",
    ),
    ("poll_oneoff", "(param i32 i32 i32 i32) (result i32)"),
    ("random_get", "(param i32 i32) (result i32)"),
];

const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;
const CREATE: u32 = 1;
const TRUNCATE: u32 = 8;

/// Errors as preview 1 numbers them.
const OK: &str = "00";
const BADF: &str = "08";
const DQUOT: &str = "19";
const INVAL: &str = "28";
const NAME_TOO_LONG: &str = "37";
const NO_ENTRY: &str = "44";
const NO_SPACE: &str = "51";
const NOT_DIRECTORY: &str = "54";
const PERMISSION: &str = "63";

fn imports() -> String {
    let one = |(name, ty): (&str, &str)| {
        format!(r#"(import "wasi_snapshot_preview1" "{name}" (func ${name} {ty}))"#)
    };
    IMPORTS.map(one).join("\n")
}

/// A program that answers with the number `body` leaves, as text of two digits. `$fd` and `$i` are
/// for its use; `path` lies at 1024.
fn program(path: &str, body: &str) -> Vec<u8> {
    let path = path.replace('\\', "\\\\");
    text::component(&format!(
        r#"(module {imports}
          (memory (export "memory") 4)
          (data (i32.const 1024) "{path}")
          (data (i32.const 512) "\"00\"")
          (func $open (param $how i32) (param $rights i64) (result i32)
            (call $path_open (i32.const 3) (i32.const 1) (i32.const 1024) (i32.const {len})
              (local.get $how) (local.get $rights) (i64.const 0) (i32.const 0) (i32.const 64)))
          (func $body (result i32) (local $fd i32) (local $i i32) {body})
          (func (export "_start") (local $n i32)
            (local.set $n (call $body))
            (i32.store8 (i32.const 513)
              (i32.add (i32.const 48) (i32.div_u (local.get $n) (i32.const 10))))
            (i32.store8 (i32.const 514)
              (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
            (i32.store (i32.const 0) (i32.const 512)) (i32.store (i32.const 4) (i32.const 4))
            (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
        imports = imports(),
        len = path.len(),
    ))
}

/// Returns what a program answered.
async fn number(kit: &Kit, path: &str, body: &str) -> String {
    let said = content(kit.call_bytes(&program(path, body), "{}").await);
    said.trim_matches('"').to_owned()
}

/// Lets a program open a path below the workspace, and returns how that ended.
async fn open(kit: &Kit, path: &str, how: u32, rights: u64) -> String {
    let body = format!("(call $open (i32.const {how}) (i64.const {rights}))");
    number(kit, path, &body).await
}

#[tokio::test]
async fn no_path_leads_out_of_a_granted_directory() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let kit = Kit::new(Host::Pooling)
            .access(access)
            .file("in.txt", "in")
            .file("sub/deep.txt", "deep");
        symlink(outside.path().join("secret"), kit.path("link")).unwrap();
        symlink("../../etc/passwd", kit.path("up")).unwrap();
        symlink(outside.path(), kit.path("dir")).unwrap();
        for honest in ["in.txt", "./in.txt", "sub/deep.txt", "sub/../in.txt", "."] {
            assert_eq!(open(&kit, honest, 0, READ).await, OK, "{honest}");
        }
        let absolute = outside.path().join("secret").display().to_string();
        for hostile in [
            "..",
            "../in.txt",
            "sub/../../x",
            "/",
            "/etc/passwd",
            &absolute,
        ] {
            assert_eq!(open(&kit, hostile, 0, READ).await, PERMISSION, "{hostile}");
        }
        for link in ["link", "up", "dir/secret", "dir/../in.txt"] {
            assert_eq!(open(&kit, link, 0, READ).await, PERMISSION, "{link}");
        }
        assert_eq!(open(&kit, "none", 0, READ).await, NO_ENTRY);
        assert_eq!(open(&kit, "in.txt/x", 0, READ).await, NOT_DIRECTORY);
        assert_eq!(open(&kit, &"x".repeat(5000), 0, READ).await, NAME_TOO_LONG);
    }
}

#[tokio::test]
async fn what_may_only_be_read_cannot_be_opened_for_writing() {
    let kit = Kit::new(Host::Pooling)
        .access(Access::ReadOnly)
        .file("in.txt", "in");
    for (path, how, rights) in [
        ("in.txt", 0, WRITE),
        ("in.txt", 0, READ | WRITE),
        ("in.txt", TRUNCATE, READ),
        ("new.txt", CREATE, READ),
        ("new.txt", CREATE, WRITE),
    ] {
        let said = open(&kit, path, how, rights).await;
        assert_eq!(said, PERMISSION, "{path} {how} {rights}");
    }
    assert_eq!(fs::read_to_string(kit.path("in.txt")).unwrap(), "in");
    assert!(!kit.path("new.txt").exists());
    // A descriptor for reading does not write either.
    let writes = format!(
        "(drop (call $open (i32.const 0) (i64.const {READ})))
         (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 2))
         (call $fd_write (i32.load (i32.const 64)) (i32.const 0) (i32.const 1) (i32.const 8))"
    );
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let kit = Kit::new(Host::Pooling).access(access).file("in.txt", "in");
        assert_ne!(number(&kit, "in.txt", &writes).await, OK);
        assert_eq!(fs::read_to_string(kit.path("in.txt")).unwrap(), "in");
    }
}

#[tokio::test]
async fn open_files_are_counted_and_closing_makes_room() {
    let until_refused = format!(
        "(loop $next
           (if (i32.eqz (call $open (i32.const 0) (i64.const {READ})))
             (then (local.set $i (i32.add (local.get $i) (i32.const 1)))
                   (br_if $next (i32.lt_u (local.get $i) (i32.const 99))))))
         (local.get $i)"
    );
    let closing = format!(
        "(loop $next
           (if (call $open (i32.const 0) (i64.const {READ})) (then (return (i32.const 99))))
           (if (call $fd_close (i32.load (i32.const 64))) (then (return (i32.const 98))))
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $next (i32.lt_u (local.get $i) (i32.const 1000))))
         (call $fd_close (i32.load (i32.const 64)))"
    );
    let last = format!(
        "(drop (block (result i32) {until_refused})) (call $open (i32.const 0) (i64.const {READ}))"
    );
    for host in Host::ALL {
        let kit = Kit::new(host).file("in.txt", "in");
        assert_eq!(number(&kit, "in.txt", &until_refused).await, "32");
        assert_eq!(number(&kit, "in.txt", &last).await, DQUOT);
        assert_eq!(number(&kit, "in.txt", &closing).await, BADF);
    }
}

/// Lists with room for little more than one entry at a time, and counts the whole ones.
#[tokio::test]
async fn a_directory_is_listed_piece_by_piece() {
    let mut kit = Kit::new(Host::Pooling);
    for n in 10..60 {
        kit = kit.file(&format!("d/file-{n}"), "");
    }
    for room in [31, 32, 40, 70, 4000] {
        let body = format!(
            "(local $cookie i64) (local $at i32) (local $end i32)
             (drop (call $open (i32.const 2) (i64.const {READ})))
             (local.set $fd (i32.load (i32.const 64)))
             (loop $again
               (if (call $fd_readdir (local.get $fd) (i32.const 8192) (i32.const {room})
                     (local.get $cookie) (i32.const 72)) (then (unreachable)))
               (local.set $at (i32.const 8192))
               (local.set $end (i32.add (local.get $at) (i32.load (i32.const 72))))
               (block $cut (loop $entry
                 (br_if $cut (i32.gt_u (i32.add (local.get $at) (i32.const 24)) (local.get $end)))
                 (br_if $cut (i32.gt_u
                   (i32.add (i32.add (local.get $at) (i32.const 24))
                            (i32.load offset=16 (local.get $at))) (local.get $end)))
                 (local.set $cookie (i64.load (local.get $at)))
                 (local.set $i (i32.add (local.get $i) (i32.const 1)))
                 (local.set $at (i32.add (i32.add (local.get $at) (i32.const 24))
                                         (i32.load offset=16 (local.get $at))))
                 (br $entry)))
               (br_if $again (i32.eq (i32.load (i32.const 72)) (i32.const {room}))))
             (local.get $i)"
        );
        // With `.` and `..`.
        assert_eq!(number(&kit, "d", &body).await, "52", "room for {room}");
    }
    let body = "(call $fd_readdir (i32.const 3) (i32.const 8192) (i32.const 100)
                  (i64.const -1) (i32.const 72))";
    assert_eq!(number(&kit, "d", body).await, OK, "past the end is nothing");
}

#[tokio::test]
async fn the_quota_of_the_temporary_directory_holds() {
    let quota = jp_wasm::TempQuota {
        bytes: 1000,
        files: 10,
    };
    let base = tempfile::tempdir().unwrap();
    let write = |at: i64| {
        format!(
            "(drop (call $open (i32.const {CREATE}) (i64.const {WRITE})))
             (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 600))
             (drop (call $fd_pwrite (i32.load (i32.const 64)) (i32.const 0) (i32.const 1)
               (i64.const 0) (i32.const 8)))
             (call $fd_pwrite (i32.load (i32.const 64)) (i32.const 0) (i32.const 1)
               (i64.const {at}) (i32.const 8))"
        )
    };
    for (at, expected) in [
        (400, OK),
        (401, NO_SPACE),
        (1 << 40, NO_SPACE),
        (-1, NO_SPACE),
    ] {
        let temp = ToolTemp::create(base.path(), quota).unwrap();
        let path = temp.path().to_owned();
        let kit = Kit::new(Host::Pooling)
            .access(Access::None)
            .around(move |wasi| wasi.mount_temp(&temp).unwrap());
        assert_eq!(number(&kit, "a", &write(at)).await, expected, "{at}");
        assert!(fs::metadata(path.join("a")).unwrap().len() <= 1000);
        drop(kit);
        assert!(!path.exists(), "it is gone with its call");
    }
}

/// The convention of the registry's tools: `invoke` with WASI.
#[tokio::test]
async fn a_module_with_invoke_reads_a_granted_file() {
    let module = Abi {
        imports: imports(),
        entry: entry(
            "invoke",
            "(if (call $path_open (i32.const 3) (i32.const 1) (i32.const 70000) (i32.const 6)
                   (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 64))
               (then (unreachable)))
             (i32.store (i32.const 0) (i32.const 71000)) (i32.store (i32.const 4) (i32.const 100))
             (drop (call $fd_read (i32.load (i32.const 64)) (i32.const 0) (i32.const 1)
               (i32.const 8)))
             (call $pack (i32.const 71000) (i32.load (i32.const 8)))",
        ),
        ..Abi::default()
    }
    .with(r#"(data (i32.const 70000) "in.txt")"#);
    for host in Host::ALL {
        for turn in 0..4 {
            let text = format!("[{turn}]");
            let kit = Kit::new(host).file("in.txt", &text);
            assert_eq!(content(kit.call_bytes(&module.bytes(), "{}").await), text);
        }
    }
}
