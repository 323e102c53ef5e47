//! B18, B19, B25: no spelling of a path leads out of the workspace.

use super::*;

#[tokio::test]
async fn b18_no_spelling_of_a_path_leads_out() {
    let outside = outside();
    let up = format!("/workspace/{}", "../".repeat(20));
    let secret = text(&outside.path().join("secret.txt")).to_owned();
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling).access(access).file("in.txt", "in");
        let relative = secret.trim_start_matches('/');
        for path in [
            secret.clone(),
            format!("{up}{relative}"),
            format!("/workspace/sub/{}{relative}", "../".repeat(20)),
            format!("/workspace//..//..//..//..{secret}"),
            format!("/workspace/./.././../../../../..{secret}"),
            format!("/workspace/{secret}"),
            format!("//{secret}"),
            "/etc/passwd".to_owned(),
            "/workspace/..".to_owned(),
            "/workspace/../workspace/in.txt".to_owned(),
            "..".to_owned(),
            "../in.txt".to_owned(),
            "/".to_owned(),
            String::new(),
        ] {
            let mut all = changes(&path);
            let more = json!([
                ["read", path],
                ["stat", path],
                ["list", path],
                ["readlink", path]
            ]);
            all.as_array_mut()
                .unwrap()
                .extend(more.as_array().unwrap().clone());
            for (report, operation) in kit.files(&all).await.iter().zip(all.as_array().unwrap()) {
                // The C library of the guest resolves some of these back into the workspace.
                let harmless = access == Access::ReadWrite || report == "ok: in";
                assert!(!report.contains(SECRET), "{operation}");
                assert!(
                    !report.starts_with("ok") || harmless,
                    "{operation}: {report}"
                );
            }
        }
        is_intact(&outside);
    }
}

#[tokio::test]
async fn b18_odd_but_honest_paths_work() {
    let kit = new_kit(Host::Pooling).file("sub/in.txt", "in");
    for path in [
        "/workspace/sub/in.txt",
        "/workspace//sub///in.txt",
        "/workspace/./sub/./in.txt",
        "/workspace/sub/../sub/in.txt",
    ] {
        assert_eq!(
            kit.files(&json!([["read", path]])).await,
            ["ok: in"],
            "{path}"
        );
    }
}

#[tokio::test]
async fn b18_nul_bytes_and_endless_paths_are_errors() {
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling).access(access).file("in.txt", "in");
        let deep = format!("/workspace/{}in.txt", "d/".repeat(300));
        let long = format!("/workspace/{}", "n".repeat(100_000));
        let dots = format!("/workspace/{}in.txt", "./".repeat(50_000));
        refused(
            &kit,
            json!([
                ["read", "/workspace/in.txt\0.png"],
                ["write", "/workspace/a\0b", "x"],
                ["read", deep],
                ["write", deep, "x"],
                ["read", long],
                ["mkdir", long],
                ["list", long],
            ]),
        )
        .await;
        let report = kit.files(&json!([["read", dots]])).await;
        assert!(
            !report[0].starts_with("ok") || report[0] == "ok: in",
            "{report:?}"
        );
    }
}

#[tokio::test]
async fn b19_a_sibling_with_the_same_prefix_is_another_directory() {
    let kit = new_kit(Host::Pooling).file("in.txt", "in");
    let root = kit.path("");
    let name = root.file_name().unwrap().to_str().unwrap();
    let sibling = root.with_file_name(format!("{name}-secret"));
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("secret.txt"), SECRET).unwrap();
    refused(
        &kit,
        json!([
            ["read", "/workspace-secret/secret.txt"],
            ["read", format!("/workspace/../{name}-secret/secret.txt")],
            ["read", "/workspace-"],
            ["list", "/workspace-secret"],
            ["write", "/workspace-secret/new.txt", "x"],
        ]),
    )
    .await;
    assert_eq!(fs::read_dir(&sibling).unwrap().count(), 1);
    fs::remove_dir_all(sibling).unwrap();
}

#[tokio::test]
async fn b25_names_that_look_alike_are_different_names() {
    let outside = outside();
    let composed = "caf\u{e9}.txt";
    let kit = new_kit(Host::Pooling)
        .file("Readme.md", "readme")
        .file(composed, "coffee");
    let found = kit
        .files(&json!([
            ["read", "/workspace/Readme.md"],
            ["read", format!("/workspace/{composed}")],
        ]))
        .await;
    assert_eq!(found, ["ok: readme", "ok: coffee"]);
    let secret = text(&outside.path().join("secret.txt")).to_owned();
    refused(
        &kit,
        json!([
            ["read", "/workspace/README.MD"],
            ["read", "/WORKSPACE/Readme.md"],
            ["read", "/workspace/cafe\u{301}.txt"],
            // Full-width dots and slashes, and a right-to-left mark, are plain letters here.
            [
                "read",
                format!("/workspace/\u{ff0e}\u{ff0e}\u{ff0f}{secret}")
            ],
            ["read", "/workspace/\u{2024}\u{2024}/in.txt"],
            ["read", "/workspace\u{200f}/Readme.md"],
            ["read", "/workspace/%2e%2e/etc/passwd"],
            ["read", "\\\\workspace\\Readme.md"],
            ["read", "/workspace/..\\..\\etc\\passwd"],
        ]),
    )
    .await;
}
