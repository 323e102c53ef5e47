//! Random documents.

use proptest::prelude::*;

use super::*;

/// Space and comments between the parts of a document.
fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "  ",
        "\n",
        "\n  ",
        "\n\t",
        "\r\n    ",
        " // c, {\n",
        "/* }, */",
        " /* \" \n */ ",
        "\n// x\r\n",
    ])
}

/// A document below a value: its text.
fn node(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop::sample::select(vec![
        "1",
        "-2.5e3",
        "true",
        "null",
        "\"a\\\"b\"",
        "\"//\"",
        "{}",
        "[]",
        "[1,2]",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![leaf, object(depth, false)].boxed()
}

fn object(depth: u32, root: bool) -> BoxedStrategy<String> {
    let names = if root {
        vec!["a", "b", "mcpServers", "é/*"]
    } else {
        vec!["x", "y", "z:"]
    };
    let member = move |name: &'static str| {
        let value = match name {
            "mcpServers" => object(depth - 1, false),
            _ => node(depth - 1),
        };
        (gap(), gap(), gap(), value, gap()).prop_map(
            move |(before, behind, colon, value, after)| {
                format!("{before}\"{name}\"{behind}:{colon}{value}{after}")
            },
        )
    };
    let members = prop::sample::subsequence(names.clone(), 0..=names.len()).prop_shuffle();
    let members =
        members.prop_flat_map(move |names| names.into_iter().map(member).collect::<Vec<_>>());
    (members, any::<bool>(), gap())
        .prop_map(|(members, trailing, end)| {
            let comma = if trailing && !members.is_empty() {
                ","
            } else {
                ""
            };
            format!("{{{}{comma}{end}}}", members.join(","))
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_added_can_be_removed_without_a_trace(
        (head, body, tail) in (gap(), object(3, true), gap())
    ) {
        let before = format!("{head}{body}{tail}");
        let made = add(Format::Jsonc, &before).unwrap().unwrap();
        prop_assert_eq!(entry(&made, &target(Format::Jsonc)).unwrap(), Some(launch()));
        prop_assert_eq!(add(Format::Jsonc, &made).unwrap(), None);
        prop_assert_eq!(remove(Format::Jsonc, &made).unwrap().unwrap(), before, "{}", made);
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[\\[\\]{}\",:/*\\-#|&'a1\\\\ \n\r\té]{0,40}") {
        for format in [Format::Json, Format::Jsonc, Format::Toml, Format::Yaml] {
            let _ = add(format, &text);
            let _ = remove(format, &text);
        }
    }
}
