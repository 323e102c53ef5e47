//! A14 and A15: compiling is bounded, happens once, and refuses what the engine does not speak.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use jp_test::{Host, text};

use super::*;

/// Far more than compiling what passes takes; there to fail instead of hanging.
const BOUND: Duration = Duration::from_secs(300);

fn number(mut value: usize, out: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

fn section(id: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(id);
    number(body.len(), out);
    out.extend_from_slice(body);
}

/// A component of one module with `count` functions of the given body.
fn functions(count: usize, code: &[u8]) -> Vec<u8> {
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(1, &[1, 0x60, 0, 0], &mut module);
    let mut declared = Vec::new();
    number(count, &mut declared);
    declared.resize(declared.len() + count, 0);
    section(3, &declared, &mut module);
    let mut bodies = Vec::new();
    number(count, &mut bodies);
    for _ in 0..count {
        number(code.len(), &mut bodies);
        bodies.extend_from_slice(code);
    }
    section(10, &bodies, &mut module);
    in_component(1, &module)
}

fn in_component(id: u8, inner: &[u8]) -> Vec<u8> {
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    section(id, inner, &mut component);
    component
}

async fn refused(bytes: &[u8]) -> String {
    let start = Instant::now();
    let kit = Kit::new(Host::OnDemand);
    let ended = kit.call_bytes(bytes, "{}").await;
    assert!(start.elapsed() < BOUND, "took {:?}", start.elapsed());
    reason(&ended)
}

#[tokio::test]
async fn a14_a_million_functions_are_refused_before_they_are_compiled() {
    let why = refused(&functions(1_000_000, &[0, 0x0b])).await;
    assert_eq!(why, "more than 100000 functions");
}

#[tokio::test]
async fn a14_deeply_nested_components_are_refused() {
    for depth in [50, 900, 20_000] {
        let mut inner = b"\0asm\x0d\0\x01\0".to_vec();
        for _ in 0..depth {
            inner = in_component(4, &inner);
        }
        refused(&inner).await;
    }
}

#[tokio::test]
async fn a14_deeply_nested_types_are_refused() {
    for depth in [500_usize, 100_000] {
        let mut types = Vec::new();
        number(depth, &mut types);
        types.extend_from_slice(&[0x70, 0x7f]);
        for inner in 0..depth - 1 {
            types.push(0x70);
            number(inner, &mut types);
        }
        refused(&in_component(7, &types)).await;
    }
}

#[tokio::test]
async fn a14_a_file_of_100_megabytes_is_refused_by_its_size() {
    let kit = Kit::new(Host::OnDemand);
    let path = kit.path("big.wasm");
    fs::File::create(&path)
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    let why = reason(&kit.call_path(&path, &json!({})).await);
    assert_eq!(why, "100000000 bytes, at most 67108864 are allowed");
}

#[tokio::test]
async fn a14_callers_go_on_while_somebody_compiles() {
    // Many small functions: seconds of work for the compiler.
    let heavy = functions(30_000, &[0, 0x41, 1, 0x1a, 0x0b]);
    let kit = Kit::new(Host::Pooling);
    healthy(&kit).await;
    let compile = kit.runtime().prepare(&heavy, &|_| {});
    let mut compile = std::pin::pin!(compile);
    started(&mut compile).await;
    let start = Instant::now();
    healthy(&kit).await;
    assert!(start.elapsed() < SOON, "waited {:?}", start.elapsed());
    assert!(compile.await.is_err(), "it exports nothing");
}

#[tokio::test]
async fn a15_what_the_engine_does_not_speak_is_refused() {
    for (what, module) in [
        ("shared memory", "(memory 1 1 shared)"),
        (
            "atomics",
            "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))",
        ),
        ("structs", "(type (struct (field i32)))"),
        ("arrays", "(type (array i8))"),
        ("i31", "(func (drop (ref.i31 (i32.const 1))))"),
        ("exceptions", "(tag) (func (throw 0))"),
        ("stack switching", "(type $f (func)) (type (cont $f))"),
    ] {
        let bytes = text::component(&format!("(component (core module {module}))"));
        let ended = Kit::new(Host::OnDemand).call_bytes(&bytes, "{}").await;
        assert!(
            matches!(ended.result, Err(Error::Compile { .. })),
            "{what}: {ended:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_calls_at_the_same_time_compile_once() {
    let runtime = std::sync::Arc::new(Host::Pooling.runtime());
    let compiled = std::sync::Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (runtime, compiled) = (runtime.clone(), compiled.clone());
            tokio::spawn(async move {
                let notify = |_| {
                    compiled.fetch_add(1, Ordering::SeqCst);
                };
                let path = jp_test::guest("echo");
                runtime.prepare_path(path, &notify).await.map(drop)
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(compiled.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_let_the_next_compile_beside_its_own() {
    let runtime = Host::OnDemand.runtime();
    let begun = AtomicUsize::new(0);
    let notify = |_| {
        begun.fetch_add(1, Ordering::SeqCst);
    };
    let heavy = functions(30_000, &[0, 0x41, 1, 0x1a, 0x0b]);
    {
        let mut abandoned = std::pin::pin!(runtime.prepare(&heavy, &notify));
        started(&mut abandoned).await;
    }
    assert_eq!(begun.load(Ordering::SeqCst), 1);
    let light = text::component(&text::simple(1, "", ""));
    let mut next = std::pin::pin!(runtime.prepare(&light, &notify));
    started(&mut next).await;
    assert_eq!(begun.load(Ordering::SeqCst), 1, "two compile at once");
    next.await.unwrap();
    assert_eq!(begun.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_to_compile_is_not_remembered() {
    let kit = Kit::new(Host::OnDemand);
    let path = kit.path("tool.wasm");
    fs::write(&path, "not yet").unwrap();
    assert!(reason(&kit.call_path(&path, &json!({})).await).contains("looks like text"));
    fs::copy(jp_test::guest("counter"), &path).unwrap();
    assert_eq!(content(&kit.call_path(&path, &json!({})).await), "1");
}
