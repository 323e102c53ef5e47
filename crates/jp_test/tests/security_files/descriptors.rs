//! Open files and listings are counted, whatever holds them.

use super::*;

#[tokio::test]
async fn thirty_two_open_files_work_and_the_next_is_an_error_the_guest_sees() {
    for host in Host::ALL {
        let kit = new_kit(host).file("in.txt", "in");
        let mut steps = vec![json!(["keep", "/workspace/in.txt"]); 33];
        steps.push(json!(["list", "/workspace"]));
        steps.push(json!(["drop"]));
        steps.extend(vec![json!(["keep", "/workspace/in.txt"]); 32]);
        let reports = kit.files(&Value::from(steps)).await;
        assert!(
            reports[..32].iter().all(|report| report == "ok"),
            "{reports:?}"
        );
        assert!(reports[32].contains("uota"), "{}", reports[32]);
        assert!(!reports[33].starts_with("ok"), "{}", reports[33]);
        assert!(
            reports[35..].iter().all(|report| report == "ok"),
            "{reports:?}"
        );
    }
}

#[tokio::test]
async fn opening_and_closing_a_thousand_files_is_no_problem() {
    let kit = new_kit(Host::Pooling).file("in.txt", "in");
    let steps =
        json!({"times": 1_000, "do": [["read", "/workspace/in.txt"], ["list", "/workspace"]]});
    let reports = kit.answer(GUEST, &steps).await;
    assert_eq!(
        reports.matches("ok: in").count(),
        2_000,
        "{}",
        &reports[..200]
    );
}

/// Opens `in.txt` of the first directory; the descriptor is then in `$fd`.
const OPEN: &str = "
    (call $open (local.get $dir) (i32.const 0) (i32.const 32) (i32.const 6) (i32.const 0)
      (i32.const 1) (i32.const 64))
    (br_if $full (i32.load8_u (i32.const 64)))
    (local.set $fd (i32.load (i32.const 68)))";

/// Takes a stream of `$fd` and lets the descriptor go.
const STREAM: &str = "
    (call $stream (local.get $fd) (i64.const 0) (i32.const 80))
    (br_if $full (i32.load8_u (i32.const 80)))
    (call $drop (local.get $fd))";

/// Lists the first directory and keeps the listing.
const LIST: &str = "
    (call $list (local.get $dir) (i32.const 80))
    (br_if $full (i32.load8_u (i32.const 80)))";

/// The part of `wasi:filesystem` that these tools use.
const IMPORTS: &str = r#"
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "input-stream" (type (sub resource)))))
  (alias export $streams "input-stream" (type $input))
  (import "wasi:filesystem/types@0.2.0" (instance $fs
    (export "descriptor" (type $d (sub resource)))
    (export "directory-entry-stream" (type $des (sub resource)))
    (alias outer 1 $input (type $in')) (export "input-stream" (type $in (eq $in')))
    (type $pf' (flags "symlink-follow")) (export "path-flags" (type $pf (eq $pf')))
    (type $of' (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $of (eq $of')))
    (type $df' (flags "read" "write" "file-integrity-sync" "data-integrity-sync"
      "requested-write-sync" "mutate-directory"))
    (export "descriptor-flags" (type $df (eq $df')))
    (type $ec' (enum "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota"
      "exist" "file-too-large" "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io"
      "is-directory" "loop" "too-many-links" "message-size" "name-too-long" "no-device" "no-entry"
      "no-lock" "insufficient-memory" "insufficient-space" "not-directory" "not-empty"
      "not-recoverable" "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted" "pipe"
      "read-only" "invalid-seek" "text-file-busy" "cross-device"))
    (export "error-code" (type $ec (eq $ec')))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $pf)
      (param "path" string) (param "open-flags" $of) (param "flags" $df)
      (result (result (own $d) (error $ec)))))
    (export "[method]descriptor.read-via-stream" (func (param "self" (borrow $d))
      (param "offset" u64) (result (result (own $in) (error $ec)))))
    (export "[method]descriptor.read-directory" (func (param "self" (borrow $d))
      (result (result (own $des) (error $ec)))))))
  (alias export $fs "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $pre
    (alias outer 1 $descriptor (type $d')) (export "descriptor" (type $d (eq $d')))
    (export "get-directories" (func (result (list (tuple (own $d) string)))))))
"#;

/// A tool that does `step` until it is refused, or a hundred times, and answers how often it could.
fn until_refused(step: &str) -> Vec<u8> {
    let signature = jp_test::text::SIGNATURE;
    let say = jp_test::text::SAY_N;
    jp_test::text::component(&jp_test::text::tool(&format!(
        r#"{IMPORTS}
  (core module $libc (memory (export "memory") 4) (global $p (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (global.get $p)
      (global.set $p (i32.and (i32.const -8)
        (i32.add (i32.const 7) (i32.add (global.get $p) (local.get 3)))))))
  (core instance $libc (instantiate $libc))
  (alias core export $libc "memory" (core memory $mem))
  (alias core export $libc "realloc" (core func $realloc))
  (core func $dirs (canon lower (func $pre "get-directories") (memory $mem) (realloc $realloc)))
  (core func $open (canon lower (func $fs "[method]descriptor.open-at") (memory $mem)))
  (core func $stream (canon lower (func $fs "[method]descriptor.read-via-stream") (memory $mem)))
  (core func $list (canon lower (func $fs "[method]descriptor.read-directory") (memory $mem)))
  (core func $drop (canon resource.drop $descriptor))
  (core module $m
    (import "libc" "memory" (memory 4)) (export "memory" (memory 0))
    (import "libc" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    (export "realloc" (func $realloc))
    (import "fs" "dirs" (func $dirs (param i32)))
    (import "fs" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "fs" "stream" (func $stream (param i32 i64 i32)))
    (import "fs" "list" (func $list (param i32 i32)))
    (import "fs" "drop" (func $drop (param i32)))
    (data (i32.const 32) "in.txt")
    (func (export "run") {signature}
      (local $at i32) (local $len i32) (local $n i32) (local $dir i32) (local $fd i32)
      (call $dirs (i32.const 16))
      (local.set $dir (i32.load (i32.load (i32.const 16))))
      (block $full (loop $next
        {step}
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $n) (i32.const 100)))))
      {say}
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (local.get $at))
      (i32.store (i32.const 8) (local.get $len))
      (i32.const 0)))
  (core instance $main (instantiate $m (with "libc" (instance $libc)) (with "fs" (instance
    (export "dirs" (func $dirs)) (export "open" (func $open)) (export "stream" (func $stream))
    (export "list" (func $list)) (export "drop" (func $drop))))))"#
    )))
}

#[tokio::test]
async fn a_stream_keeps_its_file_open_and_counted() {
    for (what, step) in [
        ("files", OPEN.to_owned()),
        ("streams", format!("{OPEN} {STREAM}")),
        ("listings", LIST.to_owned()),
    ] {
        let bytes = until_refused(&step);
        for host in Host::ALL {
            for limit in [32, 5] {
                let kit = new_kit(host)
                    .file("in.txt", "in")
                    .limits(|limits| limits.open_files = limit);
                let ended = kit.call_bytes(&bytes, "{}").await;
                let expected = jp_tool::Outcome::from(limit.to_string());
                assert_eq!(ended.result.unwrap(), expected, "{what}");
            }
        }
    }
}
