//! What a model can and cannot say about files.

use serde_json::json;

use super::*;

fn chosen(entries: &[(&str, &str)]) -> BTreeMap<String, ChosenFile> {
    let file = |(id, path): &(&str, &str)| {
        let path = PathBuf::from(path);
        let access = Access::Read;
        ((*id).to_owned(), ChosenFile { path, access })
    };
    entries.iter().map(file).collect()
}

fn placed(arguments: Value, files: &[(&str, &str)]) -> Result<(Value, Vec<Placed>), String> {
    let Value::Object(mut arguments) = arguments else {
        panic!("an object")
    };
    let mut placed = Vec::new();
    let done = place(&mut arguments, &chosen(files), &mut placed);
    done.map_err(|error| error.to_string())?;
    Ok((Value::Object(arguments), placed))
}

#[test]
fn a_chosen_file_becomes_a_path_of_the_guest_wherever_it_is_named() {
    let sent =
        json!({"more": [1, {"deep/er": {"$file": "b"}}, {"$file": "a"}], "source": {"$file": "a"}});
    let files = [("a", "/home/u/x.pdf"), ("b", "/home/u/y.png"), ("c", "/z")];
    let (arguments, placed) = placed(sent, &files).unwrap();
    let expected = json!({
        "more": [1, {"deep/er": {"path": "/in/0/y.png"}}, {"path": "/in/1/x.pdf"}],
        "source": {"path": "/in/2/x.pdf"},
    });
    assert_eq!(arguments, expected);
    let at: Vec<&str> = placed.iter().map(|file| file.argument.as_str()).collect();
    // What is not named is not handed over.
    assert_eq!(at, ["/more/1/deep~1er", "/more/2", "/source"]);
}

#[test]
fn e57_the_model_cannot_choose_a_file() {
    let files = [("a", "/home/u/x.pdf")];
    for id in ["/etc/passwd", "b", "", "../a", "a\u{0}", "A"] {
        let error = placed(json!({"source": {"$file": id}}), &files).unwrap_err();
        assert!(error.contains("unknown file"), "{error}");
        assert!(
            error.contains("at `/source`") && error.contains("--file"),
            "{error}"
        );
    }
}

#[test]
fn e57_a_path_in_the_arguments_is_mere_text() {
    let sent = json!({"source": "/home/u/x.pdf", "p": {"path": "/etc/passwd"}, "f": {"file": "a"},
        "b": {"base64": "AAAA"}});
    let (arguments, placed) = placed(sent.clone(), &[("a", "/home/u/x.pdf")]).unwrap();
    assert_eq!(arguments, sent);
    assert_eq!(placed, []);
}

#[test]
fn e57_nothing_stands_beside_the_id() {
    let files = [("a", "/x")];
    for value in [
        json!({"$file": "a", "path": "/etc/passwd"}),
        json!({"$file": "a", "access": "read-write"}),
        json!({"$file": ["a"]}),
        json!({"$file": {"$file": "a"}}),
        json!({"$file": null}),
    ] {
        assert!(
            placed(json!({ "source": value }), &files).is_err(),
            "{value}"
        );
    }
    assert!(placed(json!({"$file": "a"}), &files).is_err());
}

#[test]
fn what_a_model_wrote_is_bounded_and_escaped_in_what_it_is_told() {
    let id = format!("\u{1b}[2J{}", "x".repeat(1_000_000));
    let error = placed(json!({"source": {"$file": id}}), &[]).unwrap_err();
    assert!(error.len() < 400 && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn a_call_takes_so_many_files_and_no_more() {
    let ids: Vec<String> = (0..=MAX_FILES).map(|n| format!("f{n}")).collect();
    let files: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "/x")).collect();
    let all: Vec<Value> = ids.iter().map(|id| json!({"$file": id})).collect();
    assert!(placed(json!({"all": all[1..]}), &files).is_ok());
    let error = placed(json!({ "all": all }), &files).unwrap_err();
    assert!(error.contains("at most 16 files"), "{error}");
}

#[test]
fn a_guest_sees_a_plain_name_and_no_directory() {
    for (path, name) in [
        ("/home/u/Größe (1) & more.pdf", "Größe (1) & more.pdf"),
        ("/home/u/a\nb\u{202e}c\u{1b}[2J", "a_b_c_[2J"),
        ("/home/u/..", ""),
    ] {
        let file = ChosenFile {
            path: path.into(),
            access: Access::Read,
        };
        assert_eq!(guest_name(&file), name);
    }
}
