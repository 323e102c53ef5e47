//! Signed tools: what composing a grant and checking arguments costs beside a call, and whether a call
//! costs more when more tools are installed.
//!
//! `cargo bench -p jp_bench --bench registry`, or with the names of cases after `--`. For `listing`,
//! build jp first: `cargo xtask dist`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{collections::BTreeMap, fs, path::Path, process::Command, sync::Arc, time::Instant};

use jp_bench::{Samples, line, rounds, wanted};
use jp_disk::Disk;
use jp_llm::{Call, ChosenFile, PreparedTool};
use jp_policy::{Access, Policy, compose};
use jp_publish::{SigningKey, Submission};
use jp_registry::{
    AllNames, Decision, Digest, InstallError, Installer, Lock, Mode, Places, Registry, Signatures,
    StaticSource, Store, TrustRoots, TrustedRegistry,
};
use kit::{Workspace, call, run};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// The clock of the registry.
const NOW: u64 = 1_790_000_000;

/// One comparison.
type Case = fn(&Runtime);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let cases: [(&str, Case); 3] = [
        ("grant_and_arguments", grant_and_arguments),
        ("installed", installed),
        ("listing", listing),
    ];
    for (_, case) in cases.iter().filter(|(name, _)| wanted(name)) {
        case(&runtime);
    }
}

/// A kibibyte of arguments.
fn arguments() -> Map<String, Value> {
    let words: Vec<Value> = (0..16)
        .map(|n| json!({"word": "x".repeat(40), "n": n}))
        .collect();
    let arguments = json!({"text": "y".repeat(160), "words": words});
    arguments.as_object().unwrap().clone()
}

/// Composes a grant anew and checks a kibibyte of arguments, without and with a chosen file (which is
/// put in its place and noted besides); beside it a trivial call of the same tool.
fn grant_and_arguments(runtime: &Runtime) {
    let shop = Shop::new(0);
    let (tool, host) = (shop.tool(), &shop.workspace.host);
    let file = ChosenFile {
        path: shop.workspace.root().join("1k.txt"),
        access: Access::Read,
    };
    let mut with_file = arguments();
    with_file.insert("source".to_owned(), json!({"$file": "a"}));
    let checked = || Call {
        files: BTreeMap::from([("a".to_owned(), file.clone())]),
        ..call(&with_file)
    };
    let size = Value::Object(with_file.clone()).to_string().len();
    line(&format!("arguments: {size} bytes"));
    let trivial = json!({"text": "hello"});
    let trivial = trivial.as_object().unwrap();
    let mut whole = Samples::new("signed/trivial-call/1");
    let mut plain = Samples::new("signed/grant-and-1KiB/1");
    let mut checks = Samples::new("signed/grant-file-and-1KiB/1");
    let without_file = arguments();
    for round in 0..rounds(200) {
        for _ in 0..rounds(BATCH) {
            let call = call(trivial);
            runtime.block_on(async {
                let started = Instant::now();
                run(&tool, call, host).await;
                (round > 0).then(|| whole.add(started.elapsed()));
            });
        }
        for _ in 0..rounds(BATCH) {
            let call = call(&without_file);
            let started = Instant::now();
            // The pipeline keeps the grant of such calls; here it is composed for each.
            let grant = compose(host.policy(), host.policy(), &tool.request).unwrap();
            let preview = tool.preview_call(call, host).unwrap().unwrap();
            (round > 0).then(|| plain.add(started.elapsed()));
            assert_eq!(grant.limits(), preview.grant.limits());
        }
        for _ in 0..rounds(BATCH) {
            let call = checked();
            let started = Instant::now();
            let preview = tool.preview_call(call, host).unwrap().unwrap();
            (round > 0).then(|| checks.add(started.elapsed()));
            assert!(preview.grant.capabilities().to_string().contains("/in/0"));
        }
    }
    whole.report(None);
    plain.report(Some(&whole));
    checks.report(Some(&whole));
    line("bar: less than 0.25 x p50");
}

/// The same call with 10 and with 1,000 tools in the lock file: of a tool that was found before, and of
/// one that is found for each call.
fn installed(runtime: &Runtime) {
    let (few, many) = (Shop::new(9), Shop::new(999));
    let shops = [
        (&few, "signed/call-of-10/1", "signed/find-and-call-of-10/1"),
        (
            &many,
            "signed/call-of-1000/1",
            "signed/find-and-call-of-1000/1",
        ),
    ];
    let arguments = arguments();
    let mut calls = shops.map(|(_, name, _)| Samples::new(name));
    let mut found = shops.map(|(_, _, name)| Samples::new(name));
    let tools = shops.map(|(shop, _, _)| shop.tool());
    for round in 0..rounds(200) {
        for (at, (shop, _, _)) in shops.iter().enumerate() {
            let host = &shop.workspace.host;
            for _ in 0..rounds(BATCH) {
                let call = call(&arguments);
                runtime.block_on(async {
                    let started = Instant::now();
                    run(&tools[at], call, host).await;
                    (round > 0).then(|| calls[at].add(started.elapsed()));
                });
            }
            let call = call(&arguments);
            runtime.block_on(async {
                let started = Instant::now();
                run(&shop.tool(), call, host).await;
                (round > 0).then(|| found[at].add(started.elapsed()));
            });
        }
    }
    for [few, many] in [calls, found] {
        few.report(None);
        many.report(Some(&few));
    }
    line("bar: within 1.05 x p50");
}

/// New processes that list 10 and 1,000 tools, each with a receipt of its own.
fn listing(_: &Runtime) {
    let jp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dist/jp");
    let jp = std::env::var_os("JP_BENCH_BINARY").map_or(jp, Into::into);
    if !jp.exists() {
        line(
            "listing: no jp binary; build it with `cargo xtask dist`, or name it in JP_BENCH_BINARY",
        );
        return;
    }
    let (few, many) = (Shop::new(9), Shop::new(999));
    let list = |shop: &Shop| {
        let places = &shop.workspace.places;
        let mut command = Command::new(&jp);
        command
            .arg("-C")
            .arg(shop.workspace.root())
            .args(["tool", "list"]);
        for (name, dir) in [
            ("JP_CONFIG_DIR", places.config_dir()),
            ("JP_DATA_DIR", places.data_dir().ok()),
            ("JP_CACHE_DIR", places.cache_dir()),
        ] {
            command.env(name, dir.unwrap());
        }
        command.output().unwrap()
    };
    for (shop, count) in [(&few, 10), (&many, 1000)] {
        shop.part_receipts();
        let text = String::from_utf8(list(shop).stdout).unwrap();
        let listed = text.lines().filter(|line| line.contains("locked"));
        assert_eq!(listed.count(), count, "{text}");
    }
    let mut less = Samples::new("process/list-10/1");
    let mut more = Samples::new("process/list-1000/1");
    for _ in 0..rounds(60) {
        less.time(|| list(&few));
        more.time(|| list(&many));
    }
    less.report(None);
    more.report(Some(&less));
    line("bar: at most 5 x p50");
}

/// A workspace with an installed tool, and a number of others in its lock file.
struct Shop {
    workspace: Workspace,
}

impl Shop {
    fn new(others: usize) -> Self {
        let mut workspace = Workspace::new(&[], 0);
        let config = "[capabilities]\nfs.user-selected = \"read\"\n";
        fs::write(workspace.root().join(".jp/config.toml"), config).unwrap();
        let places = workspace.places.registry(workspace.root()).unwrap();
        let store = Store::open(&workspace.places.store_dir().unwrap()).unwrap();
        let registry = workspace.places.data_dir().unwrap().join("a registry");
        install(&registry, &places, &store);
        let mut lock = Lock::open(&places.lock).unwrap();
        let locked = lock.get("echo").unwrap().clone();
        for n in 0..others {
            let mut other = locked.clone();
            other.name = format!("echo-{n}").parse().unwrap();
            lock.set(other).unwrap();
        }
        lock.save(&Disk::real(), &places.lock).unwrap();
        workspace.reopen();
        Self { workspace }
    }

    fn tool(&self) -> Arc<PreparedTool> {
        self.workspace.tool("echo")
    }

    /// Gives every tool of the lock file a manifest and a receipt of its own, as if each were another.
    fn part_receipts(&self) {
        let places = self.workspace.places.registry(self.workspace.root());
        let places = places.unwrap();
        let mut lock = Lock::open(&places.lock).unwrap();
        let text = fs::read(places.receipts()).unwrap();
        let mut file: Value = serde_json::from_slice(&text).unwrap();
        let receipts = file["receipts"].as_object_mut().unwrap();
        let receipt = receipts.values().next().unwrap().clone();
        let tools: Vec<_> = lock.tools().cloned().collect();
        for mut tool in tools {
            tool.manifest = Digest::of(tool.name.as_str().as_bytes());
            receipts.insert(tool.manifest.to_string(), receipt.clone());
            lock.set(tool).unwrap();
        }
        fs::write(places.receipts(), file.to_string()).unwrap();
        lock.save(&Disk::real(), &places.lock).unwrap();
    }
}

/// Publishes the guest `echo` and installs it.
fn install(registry: &Path, places: &Places, store: &Store) {
    let (key, publisher) = (
        SigningKey::generate().unwrap(),
        SigningKey::generate().unwrap(),
    );
    let artifact = jp_test::guest("echo");
    let bytes = fs::read(artifact).unwrap();
    let manifest = json!({
        "id": "echo",
        "version": "1.0.0",
        "displayName": "Echo",
        "description": "Says it again.",
        "license": "Apache-2.0",
        "artifact": {"sha256": Digest::of(&bytes).to_string(), "size_bytes": bytes.len()},
        "wasi_imports": {"fs": false},
        "capability_requirements": ["fs.user-selected:read when /source is a file"],
        "input_schema": {"type": "object", "additionalProperties": false, "properties": {
            "text": {"type": "string", "maxLength": 10000},
            "source": {"$ref": "#/definitions/blob_or_path"},
            "words": {"type": "array", "items": {"type": "object", "required": ["word"], "properties": {
                "word": {"type": "string"}, "n": {"type": "integer", "minimum": 0}}}},
        }},
    });
    let mut signatures = Signatures::default();
    let signature = jp_publish::sign_manifest(&manifest, &publisher).unwrap();
    signatures.add(signature).unwrap();
    let shop = jp_publish::Registry::init(registry, "main", &key, NOW).unwrap();
    let submission = Submission {
        manifest: &manifest,
        signatures: &signatures,
        artifact,
        publisher: Some(publisher.public()),
        validated: None,
    };
    shop.publish(&submission).unwrap();
    fs::create_dir_all(places.keys.parent().unwrap()).unwrap();
    TrustRoots::change(&places.keys, |roots| {
        let names = ["echo".parse().unwrap()];
        roots.trust(publisher.public(), &names, AllNames::Refused)?;
        let key = key.public().clone();
        let validates = false;
        roots.trust_registry("main", TrustedRegistry { key, validates })?;
        Ok::<_, InstallError>(())
    })
    .unwrap();
    let allowed = Policy {
        capabilities: jp_policy::Capabilities {
            selected: Some(Access::Read),
            ..jp_policy::Capabilities::default()
        },
        ..Policy::default()
    };
    let installer = Installer {
        places: places.clone(),
        disk: Disk::real(),
        store: store.clone(),
        registries: vec![Registry {
            name: "main".to_owned(),
            source: Box::new(StaticSource::in_dir(registry)),
        }],
        host: allowed.clone(),
        app: allowed,
        is_known: |_| true,
        form: |_| jp_policy::Form::Wasm,
        builtins: Vec::new(),
        wanted: Vec::new(),
        now: NOW,
        mode: Mode::Normal,
        decide: Box::new(|_| Decision::Refuse),
        progress: Box::new(|_, _, _| {}),
    };
    installer.install(&"echo".parse().unwrap()).unwrap();
}
