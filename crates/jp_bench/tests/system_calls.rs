//! How many system calls a warm call makes beside what bare wasmtime makes for the same guest.
//!
//! Times differ from run to run and from machine to machine, these counts do not: a child makes the
//! calls on one thread, which its parent traces. What happens a thousand times a second or less, on
//! other threads or under leases that end, is kept out of it.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "../benches/kit/mod.rs"]
mod kit;

use std::{
    collections::BTreeMap,
    env,
    io::{self, BufRead, BufReader, Write},
    os::unix::process::parent_id,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use jp_audit::{Log, Options};
// For its allocator, which is that of the `jp` command.
use jp_bench as _;
use jp_llm::{Allocation, LazyRuntime, RuntimeOptions};
use jp_test::abi::Abi;
use kit::{Workspace, bare::Bare, bare_module::BareModule};
use nix::{
    libc,
    sys::{
        ptrace,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// Says to a child what it is.
const CHILD: &str = "JP_BENCH_COUNTED";

/// What a child says before the number of its thread.
const THREAD: &str = "calls on thread ";

/// Calls of each kind.
const CALLS: u64 = 256;

/// Calls of each kind that are made before any is counted.
const WARM: u64 = 64;

/// A time that no test takes.
const LONG: Duration = Duration::from_hours(1);

/// System calls by their number.
type Counts = BTreeMap<i64, u64>;

#[test]
fn a_warm_call_makes_one_system_call_more_than_bare_wasmtime() {
    let [
        _,
        component,
        component_whole,
        read,
        read_whole,
        module,
        module_whole,
    ] = count();
    for (what, bare, whole) in [
        ("a component", &component, &component_whole),
        ("a component that reads 1 KiB", &read, &read_whole),
        ("a module", &module, &module_whole),
    ] {
        let more = beyond(bare, whole);
        // The head of the audit log hears of every 64th record, the allocator asks for memory now and
        // then, and threads meet at a lock. None of that comes near one in each call.
        assert!(
            more < CALLS + CALLS / 2,
            "{what}: {CALLS} calls made {more} system calls beyond bare ones: {} against {}",
            shown(whole),
            shown(bare)
        );
        // Without the audit record's there would be something wrong with the counting.
        assert!(whole[&libc::SYS_write] >= CALLS, "{what}: {}", shown(whole));
    }
}

/// Runs as the child of the test above; on its own it has nothing to do.
#[test]
fn child_calls() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let executor = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let child = Called::new();
    for _ in 0..2 {
        child.all(&executor, WARM, || {});
    }
    let mut out = io::stdout();
    writeln!(out, "\n{THREAD}{}", nix::unistd::gettid()).unwrap();
    out.flush().unwrap();
    io::stdin().read_line(&mut String::new()).unwrap();
    mark();
    child.all(&executor, CALLS, mark);
}

/// Makes a system call that nothing else makes, so that a count can tell where a part begins.
fn mark() {
    let _ = parent_id();
}

/// The calls of the child, bare ones and whole ones of the same guests.
struct Called {
    workspace: Workspace,
    echo: Bare,
    reader: Bare,
    module: BareModule,
}

impl Called {
    fn new() -> Self {
        let read = |probe: &str| std::fs::read(jp_test::guest(probe)).unwrap();
        let module = Abi::default().bytes();
        let tools = [
            ("echo", read("echo")),
            ("jp_tool_test", read("jp_tool_test")),
            ("module", module.clone()),
        ];
        let mut workspace = Workspace::of(&tools, 0);
        let places = &workspace.places;
        let wasm = LazyRuntime::new(RuntimeOptions {
            allocation: Allocation::Pooling,
            cache_dir: places.code_dir(),
            spares: 0,
            fresh: LONG,
        });
        let options = Options {
            lease: Some(LONG),
            ..Options::default()
        };
        let log = Log::open(&places.data_dir().unwrap().join("another audit"), options);
        let log = Arc::new(log.unwrap());
        workspace.rebuild(|host| host.wasm(wasm).audit(log));
        Self {
            workspace,
            echo: Bare::new(jp_test::guest("echo")),
            reader: Bare::new(jp_test::guest("jp_tool_test")),
            module: BareModule::new(&module, "execute"),
        }
    }

    /// Makes some calls of each kind, and says when a kind is over.
    fn all(&self, executor: &Runtime, calls: u64, over: impl Fn()) {
        let echo = object(json!({"text": "hello"}));
        let text = Value::Object(echo.clone()).to_string();
        let each = |call: &dyn Fn()| {
            (0..calls).for_each(|_| call());
            over();
        };
        let whole = |name: &str, arguments: &Map<String, Value>| {
            let tool = self.workspace.tool(name);
            each(&|| {
                let call = kit::call(arguments);
                executor.block_on(kit::run(&tool, call, &self.workspace.host));
            });
        };
        each(&|| assert!(executor.block_on(self.echo.call(&text, None)) > 0));
        whole("echo", &echo);
        let read = object(json!({"path": "1k.txt"}));
        let path = Value::Object(read.clone()).to_string();
        let root = Some(self.workspace.root());
        each(&|| assert_eq!(executor.block_on(self.reader.call(&path, root)), 1024));
        whole("jp_tool_test", &read);
        each(&|| assert_eq!(executor.block_on(self.module.call(&text)), text));
        whole("module", &echo);
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Starts a child and counts the system calls of its thread, in the parts that it marks.
fn count<const PARTS: usize>() -> [Counts; PARTS] {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child_calls", "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let thread = thread_of(&mut child);
    ptrace::seize(thread, ptrace::Options::PTRACE_O_TRACESYSGOOD).unwrap();
    ptrace::interrupt(thread).unwrap();
    wait(thread);
    writeln!(child.stdin.as_mut().unwrap(), "go on").unwrap();
    let mut parts = [const { Counts::new() }; PARTS];
    let mut at = 0;
    let mut signal = None;
    while at < PARTS {
        ptrace::syscall(thread, signal.take()).unwrap();
        match wait(thread) {
            WaitStatus::PtraceSyscall(_) => {
                let Some(number) = entered(thread) else {
                    continue;
                };
                if number == libc::SYS_getppid {
                    at += 1;
                } else {
                    *parts[at].entry(number).or_default() += 1;
                }
            }
            WaitStatus::Stopped(_, sent) => signal = Some(sent),
            WaitStatus::PtraceEvent(..) => {}
            other => panic!("the child ended early: {other:?}"),
        }
    }
    ptrace::detach(thread, None).unwrap();
    assert!(child.wait().unwrap().success());
    parts
}

fn wait(thread: Pid) -> WaitStatus {
    waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap()
}

/// Returns the number of the system call that a thread is about to make, if it has not just made one.
fn entered(thread: Pid) -> Option<i64> {
    let enters = ptrace::syscall_info(thread).unwrap().op == libc::PTRACE_SYSCALL_INFO_ENTRY;
    enters.then(|| number(&ptrace::getregs(thread).unwrap()).cast_signed())
}

#[cfg(target_arch = "x86_64")]
const fn number(registers: &libc::user_regs_struct) -> u64 {
    registers.orig_rax
}

#[cfg(target_arch = "aarch64")]
const fn number(registers: &libc::user_regs_struct) -> u64 {
    registers.regs[8]
}

/// Waits until a child says on which thread it calls.
fn thread_of(child: &mut Child) -> Pid {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let said = lines.find_map(|line| Some(line.strip_prefix(THREAD)?.to_owned()));
    Pid::from_raw(said.unwrap().parse().unwrap())
}

/// Returns how many more there are of each kind. Fewer of one make up for no other: what wasmtime
/// itself does moves to another thread here.
fn beyond(bare: &Counts, whole: &Counts) -> u64 {
    let more = whole.iter().map(|(number, count)| {
        let bare = bare.get(number).copied().unwrap_or_default();
        count.saturating_sub(bare)
    });
    more.sum()
}

fn shown(counts: &Counts) -> String {
    let names = [
        (libc::SYS_write, "write"),
        (libc::SYS_pwrite64, "pwrite64"),
        (libc::SYS_newfstatat, "newfstatat"),
        (libc::SYS_futex, "futex"),
        (libc::SYS_ioctl, "ioctl"),
        (libc::SYS_madvise, "madvise"),
        (libc::SYS_openat, "openat"),
        (libc::SYS_close, "close"),
    ];
    let each = counts.iter().map(|(number, count)| {
        let name = names.iter().find(|(known, _)| known == number);
        let name = name.map_or_else(
            || format!("number {number}"),
            |(_, name)| (*name).to_owned(),
        );
        format!("{name} {count}")
    });
    each.collect::<Vec<_>>().join(", ")
}
