//! The walls as tables: who may know whom. A change here is a change of the design.

use crate::metadata::Kind;

/// All tables about crates.
pub(super) struct Tables {
    pub(super) coming: &'static [&'static str],
    pub(super) outside: &'static [Wall],
    pub(super) inside: &'static [Row],
    pub(super) forbidden: &'static [Forbidden],
}

/// A family of outside crates, and the only places it may appear in.
pub(super) struct Wall {
    /// The start of the crates' names, up to the end or a dash or underscore.
    pub(super) family: &'static str,
    pub(super) rooms: &'static [Room],
    /// Whether any crate's tests may use it.
    pub(super) tests: Tests,
}

/// A crate that may use a family, and in which sections of its manifest.
pub(super) struct Room {
    pub(super) package: &'static str,
    pub(super) kinds: &'static [Kind],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tests {
    Anywhere,
    InRooms,
}

/// A crate of the workspace and the crates of the workspace it may depend on.
pub(super) struct Row {
    pub(super) package: &'static str,
    /// For its code, and so for its tests too.
    pub(super) normal: &'static [&'static str],
    /// For its build script.
    pub(super) build: &'static [&'static str],
    /// For its tests, besides `normal` and the test kit.
    pub(super) dev: &'static [&'static str],
}

/// Outside crates that one crate must never use, in any section.
pub(super) struct Forbidden {
    pub(super) package: &'static str,
    pub(super) crates: &'static [&'static str],
}

/// The crate that every crate's tests may use.
pub(super) const TEST_KIT: &str = "jp_test";

/// The crates that hold pure functions, and the one attribute that proves it.
pub(super) const NO_STD: &[&str] = &["crates/jp_policy/src/lib.rs", "crates/jp_text/src/lib.rs"];

/// The only files that may say `unsafe`.
pub(super) const UNSAFE: &[&str] = &[
    "crates/jp_wasm/src/cache.rs",
    // `#[unsafe(no_mangle)]`, without which a module exports nothing; there is no unsafe block.
    "crates/jp_tool_brokered/src/abi.rs",
    // Count allocations and processor time of children. Outside the workspace, ship in nothing.
    "benches/peers/src/memory.rs",
    "benches/peers/src/clock.rs",
];

/// The only files beside those of `jp_disk` that may write a file and rename it into its place.
pub(super) const WHOLE_FILES: &[&str] = &[];

/// Dependencies that no source names: a crate and its dependency, with the reason beside it.
pub(super) const FOR_FEATURES: &[(&str, &str)] = &[
    // Its tests share the kit of jp_registry's, which lies there.
    ("jp_publish", "url"),
];

/// How many packages `Cargo.lock` may hold. Raise it in the commit that says what the new ones save.
pub(super) const LOCK_CEILING: usize = 433;

/// How many conditions on a feature the crates may have. A trait with one implementation for either case
/// needs few: `crates/jp_llm/src/wasm.rs` is the example.
pub(super) const CONDITIONS: &[(&str, usize)] = &[("wasm-tools", 9)];

const ALL: &[Kind] = &[Kind::Normal, Kind::Build, Kind::Dev];
const BUILD: &[Kind] = &[Kind::Build];
const DEV: &[Kind] = &[Kind::Dev];

const fn room(package: &'static str, kinds: &'static [Kind]) -> Room {
    Room { package, kinds }
}

const fn row(
    package: &'static str,
    normal: &'static [&'static str],
    build: &'static [&'static str],
    dev: &'static [&'static str],
) -> Row {
    Row {
        package,
        normal,
        build,
        dev,
    }
}

pub(super) const TABLES: Tables = Tables {
    // Designed and not made yet. A crate that exists must leave this list.
    coming: &[],
    outside: &[
        Wall {
            family: "wasmtime",
            // The bench compares ours with bare wasmtime.
            rooms: &[room("jp_wasm", ALL), room("jp_bench", DEV)],
            tests: Tests::InRooms,
        },
        Wall {
            family: "rmcp",
            // The bench compares ours with a bare server.
            rooms: &[
                room("jp_mcp", ALL),
                room("jp_serve", ALL),
                room("jp_bench", DEV),
            ],
            tests: Tests::InRooms,
        },
        Wall {
            family: "rusqlite",
            // The bench compares ours with the bare statement.
            rooms: &[
                room("jp_broker", ALL),
                room("jp_store", ALL),
                room("jp_bench", DEV),
            ],
            tests: Tests::InRooms,
        },
        Wall {
            family: "clap",
            rooms: &[room("jp_cli", ALL)],
            tests: Tests::InRooms,
        },
        Wall {
            family: "sha2",
            rooms: &[
                // The commands `sha256sum` and its like, and the state that an apply checks.
                room("jp_bash_commands", ALL),
                room("jp_bash_shell", ALL),
                room("jp_disk", ALL),
                room("jp_llm", BUILD),
            ],
            tests: Tests::Anywhere,
        },
        Wall {
            // Files that go with their owner are `jp_disk::Temporary`.
            family: "tempfile",
            rooms: &[room("jp_test", ALL)],
            tests: Tests::Anywhere,
        },
        Wall {
            family: "anyhow",
            rooms: &[room("xtask", ALL)],
            tests: Tests::Anywhere,
        },
    ],
    inside: &[
        // The ground floor: what three crates need exists once, and knows none of them.
        row("jp_text", &[], &[], &[]),
        row("jp_disk", &[], &[], &[]),
        row("jp_tool", &["jp_text"], &[], &[]),
        row("jp_policy", &["jp_text"], &[], &[]),
        row("jp_audit", &["jp_disk", "jp_text"], &[], &[]),
        row("jp_confine", &["jp_disk"], &[], &[]),
        row("jp_config", &["jp_disk", "jp_policy", "jp_text"], &[], &[]),
        row(
            "jp_wasm",
            &["jp_disk", "jp_policy", "jp_text", "jp_tool"],
            &[],
            &[],
        ),
        // The shell is handed its programs, and commands know the system calls alone: neither knows the other.
        row("jp_bash_system", &[], &[], &[]),
        row("jp_bash_syntax", &[], &[], &[]),
        row("jp_bash_regex", &["jp_bash_system"], &[], &[]),
        row(
            "jp_bash_shell",
            &["jp_bash_regex", "jp_bash_syntax", "jp_bash_system"],
            &[],
            &[],
        ),
        row(
            "jp_bash_commands",
            &["jp_bash_regex", "jp_bash_system"],
            &[],
            &[],
        ),
        row(
            "jp_bash",
            &[
                "jp_bash_commands",
                "jp_bash_shell",
                "jp_bash_system",
                "jp_tool",
            ],
            &[],
            &[],
        ),
        row(
            "jp_registry",
            &["jp_disk", "jp_policy", "jp_text"],
            &[],
            &["jp_publish"],
        ),
        row(
            "jp_publish",
            &["jp_disk", "jp_policy", "jp_registry", "jp_text"],
            &[],
            &[],
        ),
        row(
            "jp_mcp",
            &["jp_confine", "jp_disk", "jp_policy", "jp_text", "jp_tool"],
            &[],
            &[],
        ),
        row(
            "jp_broker",
            &["jp_disk", "jp_mcp", "jp_policy", "jp_text", "jp_tool"],
            &[],
            &[],
        ),
        row("jp_store", &["jp_disk"], &[], &[]),
        row(
            "jp_llm",
            &[
                "jp_audit",
                "jp_bash",
                "jp_broker",
                "jp_config",
                "jp_confine",
                "jp_disk",
                "jp_policy",
                "jp_registry",
                "jp_text",
                "jp_tool",
                // The names, schemas and default grants of the modules it embeds.
                "jp_tool_brokered",
                // Its scan and its prompt section are the host's side of `learn`.
                "jp_tool_learn",
                "jp_wasm",
            ],
            &["jp_guest_build"],
            &["jp_publish", "jp_test"],
        ),
        // Opens a workspace and wires everything below, for every front.
        row(
            "jp_host",
            &[
                "jp_audit",
                "jp_config",
                "jp_confine",
                "jp_disk",
                "jp_llm",
                "jp_policy",
                "jp_registry",
                // What the user decided about calls.
                "jp_store",
                "jp_text",
            ],
            &[],
            &["jp_tool"],
        ),
        row(
            "jp_serve",
            &[
                // Callers read their own records.
                "jp_audit",
                // What a workspace shows beside its tools.
                "jp_config",
                "jp_disk",
                "jp_host",
                "jp_llm",
                "jp_policy",
                "jp_store",
                "jp_text",
                "jp_tool",
            ],
            &[],
            &[],
        ),
        row(
            "jp_cli",
            &[
                "jp_audit",
                "jp_bash",
                "jp_config",
                "jp_confine",
                "jp_disk",
                "jp_host",
                "jp_llm",
                "jp_policy",
                "jp_publish",
                "jp_registry",
                "jp_serve",
                "jp_text",
                "jp_tool",
            ],
            &[],
            &[],
        ),
        row("jp_tool_learn", &["jp_text", "jp_tool"], &[], &[]),
        row("jp_tool_test", &["jp_tool"], &[], &[]),
        row("jp_tool_brokered", &[], &[], &["jp_guest_build"]),
        row("jp_probes", &["jp_tool"], &[], &[]),
        row(
            "jp_module_probes",
            &["jp_probes", "jp_tool_brokered"],
            &[],
            &[],
        ),
        row("jp_guest_build", &[], &[], &[]),
        row(
            TEST_KIT,
            &["jp_policy", "jp_tool", "jp_wasm"],
            &["jp_guest_build"],
            &[],
        ),
        row(
            "jp_bench",
            &[],
            &[],
            &[
                "jp_audit",
                "jp_broker",
                "jp_config",
                "jp_disk",
                "jp_host",
                "jp_llm",
                "jp_policy",
                "jp_publish",
                "jp_registry",
                "jp_serve",
                "jp_store",
                "jp_tool",
                "jp_wasm",
            ],
        ),
        row("xtask", &["jp_disk", "jp_guest_build", "jp_text"], &[], &[]),
    ],
    forbidden: &[
        // They get files, clocks and randomness as arguments.
        Forbidden {
            package: "jp_tool",
            crates: &["rustix", "tokio"],
        },
        Forbidden {
            package: "jp_policy",
            crates: &["rustix", "tokio"],
        },
        // A script runs where it is called; registries are read and written by whoever asks.
        Forbidden {
            package: "jp_bash",
            crates: &["tokio"],
        },
        Forbidden {
            package: "jp_bash_shell",
            crates: &["tokio"],
        },
        // A command has the system calls and nothing else.
        Forbidden {
            package: "jp_bash_commands",
            crates: &["rustix", "tokio"],
        },
        Forbidden {
            package: "jp_registry",
            crates: &["tokio"],
        },
        Forbidden {
            package: "jp_store",
            crates: &["tokio"],
        },
    ],
};
