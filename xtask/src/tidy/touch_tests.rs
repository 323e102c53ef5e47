//! Each wall is seen red: violations planted in small trees.

use super::super::touches::{ROWS, Right};
use super::super::tree::planted;
use super::*;

/// Judges a crate of the given files, which may touch what `rights` say.
fn check(files: &[(&str, &str)], rights: &'static [Right]) -> Vec<String> {
    let files: Vec<(String, &str)> = files
        .iter()
        .map(|(path, text)| (format!("a/src/{path}"), *text))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    let row = Row {
        package: "a",
        holds: "",
        rights: Some(rights),
    };
    let findings = within_row(&planted(&files), "a/src/", &row);
    findings
        .iter()
        .map(|found| format!("{}: {}", found.place, found.text))
        .collect()
}

fn touched(source: &str) -> Vec<String> {
    check(&[("lib.rs", source)], &[])
}

/// One line of code for each part of the machine, in the way people write it.
const PLANTED: &[(Touch, &str)] = &[
    (Touch::Environment, "fn f() { std::env::var(\"HOME\"); }"),
    (
        Touch::Clock,
        "use std::time::Instant; fn f() { Instant::now(); }",
    ),
    (Touch::Sockets, "use std::net::{IpAddr, TcpStream};"),
    (Touch::Files, "use std::{fs, io}; fn f() { fs::read(x); }"),
    (Touch::Processes, "use tokio::process::Command;"),
    (
        Touch::Terminal,
        "use std::io::{self, Write}; fn f() { io::stdout().flush(); }",
    ),
    (Touch::Randomness, "fn f() { getrandom::fill(x); }"),
];

#[test]
fn each_wall_of_each_crate_is_red_where_it_is_broken() {
    let mut walls = 0;
    for row in ROWS {
        let Some(rights) = row.rights else { continue };
        for (touch, code) in PLANTED {
            let rooms: Vec<&str> = rights
                .iter()
                .filter(|right| right.touch == *touch)
                .map(|right| right.room)
                .collect();
            if rooms.contains(&"") {
                continue;
            }
            let tree = planted(&[("a/src/not_in_a_room.rs", code)]);
            let findings = within_row(&tree, "a/src/", row);
            let refused = findings
                .iter()
                .filter(|found| found.place.starts_with("a/src/not_in_a_room.rs:1"));
            let mut texts = refused.map(|found| found.text.as_str());
            assert!(
                texts.any(|text| text.contains(&touch.to_string())),
                "{} may touch {touch}",
                row.package
            );
            walls += 1;
        }
    }
    assert!(walls > 80, "only {walls} walls were tried");
}

#[test]
fn each_path_of_the_table_is_found_and_each_harmless_one_is_not() {
    for (touch, path) in REACHES {
        for code in [
            format!("use {path};"),
            format!("fn f() {{ {path}::x; }}"),
            format!("use {path} as other;"),
        ] {
            let found = touched(&code);
            assert!(
                found
                    .iter()
                    .any(|text| text.contains(&format!("touches {touch}"))),
                "{code}: {found:?}"
            );
        }
    }
    for path in HARMLESS {
        assert_eq!(touched(&format!("use {path};")), Vec::<String>::new());
    }
}

#[test]
fn no_other_name_hides_what_is_touched() {
    for code in [
        "use std as s; fn f() { s::fs::read(x); }",
        "use std::{self as s}; fn f() { s::fs::read(x); }",
        "extern crate std as s; fn f() { s::fs::read(x); }",
        "use std::*; fn f() { fs::read(x); }",
        "use ::std::r#fs as disk;",
        "use std::{io, fs::{self, File}};",
        "use std::time as t; fn f() { t::Instant::now(); }",
        "use std::time::Instant as I; fn f() { I::now(); }",
        "use std::time::SystemTime; fn f() { let now = SystemTime::now; }",
        "type T = std::time::Instant; fn f() { T::now(); }",
        "fn f() { <std::time::Instant>::now(); }",
        "fn f() { other::Instant::now(); }",
        "use std::path::Path as P; fn f() { x.filter(P::exists); }",
        "macro_rules! m { ($m:ident) => { std::$m::read(x) } }",
        "mod tests { fn f() { std::fs::read(x); } }",
        "#[cfg(not(test))] fn f() { std::fs::read(x); }",
        "#[cfg(test)] mod tests {} fn f() { std::fs::read(x); }",
    ] {
        assert!(!touched(code).is_empty(), "{code}");
    }
    for code in [
        "// std::fs\nconst A: &str = \"std::fs\";",
        "#[cfg(test)] use std::fs; #[cfg(test)] mod tests { fn f() { std::env::var(x); } }",
        "use std::net::{IpAddr, SocketAddr}; use std::time::Duration; use std::time::Instant;",
        "mod fs; fn f() { fs::read(x); env::list(y); }",
    ] {
        assert_eq!(touched(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn a_name_of_another_module_hides_nothing() {
    let found = check(
        &[
            ("lib.rs", "mod open; mod closed;"),
            ("open.rs", "pub(crate) use std::fs as disk;"),
            (
                "closed.rs",
                "use crate::open::disk; fn f() { super::open::disk::read(x); }",
            ),
        ],
        &[Right {
            touch: Touch::Files,
            room: "open.rs",
        }],
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|text| text.starts_with("a/src/closed.rs:1: ")),
        "{found:?}"
    );
    assert!(found[0].contains("may do so in open.rs only"), "{found:?}");
}

#[test]
fn nothing_that_walls_are_about_is_handed_out() {
    for code in [
        "pub use std::fs;",
        "pub use std::time::Instant;",
        "pub type Clock = std::time::SystemTime;",
        "pub use std::*;",
    ] {
        let found = check(
            &[("lib.rs", code)],
            &[Right {
                touch: Touch::Files,
                room: "",
            }],
        );
        assert!(
            found
                .iter()
                .any(|text| text.contains("out to other crates")),
            "{code}: {found:?}"
        );
    }
    assert_eq!(
        touched("pub use std::time::Duration; pub use crate::x::Y;"),
        Vec::<String>::new()
    );
}

#[test]
fn methods_that_touch_without_a_path_are_found() {
    for method in METHODS {
        let call = format!("fn f() {{ x.{}(); }}", method.name);
        assert_eq!(touched(&call).len(), 1, "{call}");
        // Its own method of that name is believed, unless the type is around.
        let own = format!("{call} impl X {{ fn {}(&self) {{}} }}", method.name);
        assert_eq!(touched(&own), Vec::<String>::new(), "{own}");
        let mentioned = format!("{own} fn g(x: &{}) {{}}", method.types[0]);
        assert_eq!(touched(&mentioned).len(), 1, "{mentioned}");
        assert_eq!(
            touched(&call.replace("()", "(y)")),
            Vec::<String>::new(),
            "not that method"
        );
    }
}

#[test]
fn a_right_that_nobody_uses_is_found() {
    const RIGHTS: &[Right] = &[
        Right {
            touch: Touch::Files,
            room: "",
        },
        Right {
            touch: Touch::Files,
            room: "a.rs",
        },
        Right {
            touch: Touch::Clock,
            room: "a.rs",
        },
    ];
    let found = check(
        &[
            ("a.rs", "use std::fs;"),
            ("b.rs", "use std::time::Instant;"),
        ],
        RIGHTS,
    );
    assert_eq!(
        found,
        [
            "xtask/src/tidy/touches.rs: `a` may touch files in `a.rs`, and an earlier line allows it already; take it away",
            "xtask/src/tidy/touches.rs: `a` may touch the clock in `a.rs`, and it does not; take it away",
        ]
    );
}

#[test]
fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
    let metadata = Metadata {
        packages: vec![Package {
            name: "new".to_owned(),
            manifest_path: "/ws/crates/new/Cargo.toml".into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        }],
        target_directory: "/ws/target".into(),
    };
    let rows = [Row {
        package: "old",
        holds: "",
        rights: None,
    }];
    let tree = planted(&[("crates/new/src/lib.rs", "")]);
    let found = within_rows(&tree, Path::new("/ws"), &metadata, &rows);
    let places: Vec<_> = found.iter().map(|found| found.place.as_str()).collect();
    assert_eq!(places, ["new", TABLE]);
}
