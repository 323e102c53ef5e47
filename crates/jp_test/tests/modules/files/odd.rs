//! Calls of preview 1 that no honest module makes.

use jp_wasm::Error;

use super::*;

#[tokio::test]
async fn a_descriptor_can_take_the_place_of_another() {
    let kit = Kit::new(Host::Pooling).file("in.txt", "in");
    let moved = format!(
        "(drop (call $open (i32.const 0) (i64.const {READ})))
         (drop (call $fd_renumber (i32.load (i32.const 64)) (i32.const 0)))
         (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 10))
         (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
         (if (i32.ne (i32.load16_u (i32.const 100)) (i32.const 0x6e69)) (then (unreachable)))
         (call $fd_close (i32.load (i32.const 64)))"
    );
    assert_eq!(number(&kit, "in.txt", &moved).await, BADF);
    for (from, to) in [(50, 0), (0, 50), (-1, -1)] {
        let body = format!("(call $fd_renumber (i32.const {from}) (i32.const {to}))");
        assert_eq!(number(&kit, "in.txt", &body).await, BADF, "{from} {to}");
    }
}

#[tokio::test]
async fn a_pointer_out_of_bounds_ends_the_call() {
    let kit = Kit::new(Host::OnDemand).file("in.txt", "in");
    for body in [
        "(call $path_open (i32.const 3) (i32.const 0) (i32.const -4) (i32.const 100)
           (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 64))",
        "(call $path_open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 6)
           (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const -1))",
        "(call $fd_read (i32.const 0) (i32.const 262140) (i32.const 1) (i32.const 8))",
        "(i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const -1))
         (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))",
        "(call $fd_readdir (i32.const 3) (i32.const 1024) (i32.const -1) (i64.const 0)
           (i32.const 64))",
        "(call $fd_prestat_dir_name (i32.const 3) (i32.const -2) (i32.const 100))",
        "(call $path_filestat_get (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 6)
           (i32.const 262100))",
        "(call $poll_oneoff (i32.const 262100) (i32.const 0) (i32.const 1) (i32.const 64))",
        "(call $random_get (i32.const 262143) (i32.const 2))",
    ] {
        let ended = kit.call_bytes(&program("in.txt", body), "{}").await;
        let Err(Error::Trap { reason }) = ended.result else {
            panic!("{body}: {:?}", ended.result)
        };
        assert!(reason.contains("out of the bounds"), "{reason}");
    }
}

#[tokio::test]
async fn numbers_that_nobody_means_are_refused() {
    let kit = Kit::new(Host::OnDemand).file("in.txt", "in");
    for (body, expected) in [
        ("(call $fd_close (i32.const -1))", BADF),
        (
            "(call $fd_read (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 8))",
            INVAL,
        ),
        (
            "(call $fd_write (i32.const 1) (i32.const 0) (i32.const 1025) (i32.const 8))",
            INVAL,
        ),
        (
            "(call $poll_oneoff (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 8))",
            INVAL,
        ),
        (
            "(call $poll_oneoff (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 8))",
            INVAL,
        ),
        (
            "(drop (call $open (i32.const 0) (i64.const 2)))
             (call $fd_seek (i32.load (i32.const 64)) (i64.const -1) (i32.const 0) (i32.const 8))",
            INVAL,
        ),
        (
            "(drop (call $open (i32.const 0) (i64.const 2)))
             (call $fd_seek (i32.load (i32.const 64)) (i64.const 0) (i32.const 3) (i32.const 8))",
            INVAL,
        ),
        (
            "(call $path_open (i32.const 1) (i32.const 0) (i32.const 1024) (i32.const 6)
               (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 64))",
            NOT_DIRECTORY,
        ),
    ] {
        assert_eq!(number(&kit, "in.txt", body).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_module_without_a_memory_cannot_call_wasi() {
    let bytes = text::component(
        r#"(module (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
             (func (export "_start") (drop (call $yield))))"#,
    );
    let ended = Kit::new(Host::OnDemand).call_bytes(&bytes, "{}").await;
    let Err(Error::Trap { reason }) = ended.result else {
        panic!("{:?}", ended.result)
    };
    assert!(reason.contains("exports no `memory`"), "{reason}");
}
