//! Arguments in command lines: each stays one word, and none becomes code.

use jp_llm::tool::{Cause, Misconfigured};
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, command};

/// Texts that have become commands elsewhere.
const ATTACKS: &[&str] = &[
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "| touch pwned",
    "&& touch pwned",
    "\ntouch pwned\n",
    "' ; touch pwned ; '",
    "\" ; touch pwned ; \"",
    "\\\"; touch pwned; \\\"",
    "'$(touch pwned)'",
    "\"$(touch pwned)\"",
    "${x:=$(touch pwned)}",
    "> pwned",
    "--option",
    "{{ tool.name }}",
    "a  b\tc",
    "* ? [a]",
    "ünïcödé \u{202e}",
    "",
];

/// A workspace with the tool `t`, which is given the parameter `x`.
fn tool(line: &str) -> Desk {
    Desk::new(&command(
        "t",
        line,
        "parameters.x = {}\noptions = { o = [1, \"two\"] }",
    ))
    .trusted()
}

async fn said(line: &str, x: Value) -> String {
    tool(line).said("t", json!({ "x": x })).await.unwrap()
}

#[tokio::test]
async fn f61_arguments_cannot_inject_a_command() {
    let desk = tool("'''printf '<%s>' {{tool.arguments.x}} end'''");
    for attack in ATTACKS {
        let said = desk.said("t", json!({ "x": attack })).await.unwrap();
        assert_eq!(said, format!("<{attack}><end>"));
        assert!(!desk.has("pwned"), "{attack:?}");
    }
}

#[tokio::test]
async fn f61_arguments_cannot_inject_a_command_into_a_shell() {
    for (line, shown) in [
        ("printf '<%s>' {{tool.arguments.x}}", "<{}>"),
        ("printf '<%s>' \"{{tool.arguments.x}}\"", "<{}>"),
        ("printf '<%s>' '{{tool.arguments.x}}'", "<{}>"),
        ("printf '<%s>' a{{tool.arguments.x}}b", "<a{}b>"),
        ("printf '<%s>' \"a'{{tool.arguments.x}}'b\"", "<a'{}'b>"),
        ("printf '<%s>' 'a\"{{tool.arguments.x}}\"b'", "<a\"{}\"b>"),
        ("printf '<%s>' \\{{tool.arguments.x}}", "<{}>"),
        ("x={{tool.arguments.x}}; printf '<%s>' \"$x\"", "<{}>"),
        ("cat <<end\n<{{tool.arguments.x}}>\nend", "<\"{}\">\n"),
    ] {
        let line = format!("{{ program = '''{line}''', shell = true }}");
        let desk = tool(&line);
        for attack in ATTACKS {
            let said = desk.said("t", json!({ "x": attack })).await.unwrap();
            assert_eq!(said, shown.replace("{}", attack), "{line}");
            assert!(!desk.has("pwned"), "{line} {attack:?}");
        }
    }
}

/// Where quotes are nested or left open a value may be mangled, but stays a value.
#[tokio::test]
async fn f61_strange_quoting_does_not_help() {
    for line in [
        "echo \"$(echo \"{{tool.arguments.x}}\")\"",
        "echo `echo '{{tool.arguments.x}}'`",
        "echo it # don't {{tool.arguments.x}}",
        "echo ${y:-{{tool.arguments.x}}}",
        "echo $'{{tool.arguments.x}}'",
        "echo '{{tool.arguments.x}}",
        "echo \"{{tool.arguments.x}}",
        "case {{tool.arguments.x}} in a) ;; esac",
    ] {
        let line = format!(
            "{{ program = '''{line}''', args = [\"{{{{tool.arguments.x}}}}\"], shell = true }}"
        );
        let desk = tool(&line);
        for attack in ATTACKS {
            let _ended = desk.call("t", json!({ "x": attack })).await;
            assert!(!desk.has("pwned"), "{line} {attack:?}");
        }
    }
}

#[tokio::test]
async fn shell_arguments_are_words_of_their_own() {
    let line = "{ program = \"printf '<%s>'\", args = [\"{{tool.arguments.x}}\", \"$HOME\"], shell = true }";
    for attack in ATTACKS {
        assert_eq!(
            said(line, json!(attack)).await,
            format!("<{attack}><$HOME>")
        );
    }
}

#[tokio::test]
async fn values_are_shown_as_text_or_json() {
    let line = "'''printf '%s' {{tool.arguments.x}}'''";
    for (value, text) in [
        (json!("text"), "text"),
        (json!(7), "7"),
        (json!(-2.5), "-2.5"),
        (json!(true), "true"),
        (json!(null), "null"),
        (json!([1, "a b"]), r#"[1,"a b"]"#),
        (json!({"k": [null]}), r#"{"k":[null]}"#),
    ] {
        assert_eq!(said(line, value.clone()).await, text, "{value}");
        let shell = "{ program = \"printf '%s' {{tool.arguments.x}}\", shell = true }";
        assert_eq!(said(shell, value).await, text);
    }
    assert_eq!(
        said("'''printf '%s' {{tool.arguments.y}}'''", json!(1)).await,
        "null"
    );
    let both = "'''printf '%s|%s' {{tool.options}} {{context.action}}-{{tool.name}}'''";
    assert_eq!(said(both, json!(1)).await, r#"{"o":[1,"two"]}|run-t"#);
}

#[tokio::test]
async fn a_command_may_be_given_everything_as_json() {
    let desk = tool("'''printf '%s\n%s' {{tool}} {{context}}'''");
    let said = desk.said("t", json!({"x": "a b"})).await.unwrap();
    let (tool, context) = said.split_once('\n').unwrap();
    let tool: Value = serde_json::from_str(tool).unwrap();
    assert_eq!(tool["arguments"], json!({"x": "a b"}));
    let context: Value = serde_json::from_str(context).unwrap();
    assert_eq!(context["root"], desk.root.to_str().unwrap());
}

#[tokio::test]
async fn what_no_program_can_be_given_is_refused() {
    for line in [
        "'''echo {{tool.arguments.x}}'''",
        "{ program = \"echo {{tool.arguments.x}}\", shell = true }",
    ] {
        for (x, text) in [
            ("a\0b".to_owned(), "NUL"),
            ("x".repeat(200_000), "expected at most 131072 bytes"),
        ] {
            let desk = tool(line);
            let error = desk.call("t", json!({ "x": x })).await.error();
            assert!(
                matches!(
                    error.cause(),
                    Cause::Misconfigured(Misconfigured::Template(_))
                ),
                "{error:?}"
            );
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(desk.record(), "allowed, invalid");
        }
    }
    let error = tool("'''echo {{ tool.arguments.x'''")
        .call("t", json!({"x": 1}))
        .await
        .error();
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::Template(_))
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_template_cannot_double_a_text_until_memory_is_gone() {
    let bomb = "{% set ns = namespace(a='x') %}{% for i in range(60) %}\
                {%- set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a | length }}";
    let desk = tool(&format!("{{ program = \"echo\", args = [\"{bomb}\"] }}"));
    let error = desk.call("t", json!({})).await.result.unwrap_err();
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::Template(_))
        ),
        "{error}"
    );
    assert!(error.to_string().contains("`set`"), "{error}");
}
