//! What `learn` lists, and how slugs, hidden, disabled and learned subjects play together.

use insta::assert_snapshot;
use jp_tool::Action;

use super::{Tree, check, lay_out, run_in};

const PROJECT: Tree<'static> = &[
    ("code-quality.md", "Be good.\n"),
    ("maintainers/jean.md", "Jean\n"),
    ("maintainers/ryan.md", "Ryan\n"),
    (".internal-notes.md", "secret\n"),
    (".hidden-dir/visible.md", "below\n"),
    ("empty/", ""),
];

#[test]
fn listing_names_what_can_be_learned() {
    let arguments = r#"{"topic": "Project", "_topic": {"id": "project", "title": "General Project Knowledge",
        "description": "All about it.\n\nTwo paragraphs.\n", "disabled": [], "learned": []}}"#;
    assert_snapshot!(check(PROJECT, arguments), @r#"
        # Topic: General Project Knowledge

        All about it.

        Two paragraphs.

        ## Available subjects:

        - code-quality
        - maintainers/jean
        - maintainers/ryan

        Use the `learn` tool with the `subjects` argument to learn specific subjects.
        "#);
}

#[test]
fn learned_subjects_move_to_their_own_section() {
    let arguments = r#"{"topic": "project", "subjects": null,
        "_topic": {"id": "project", "learned": ["maintainers/*", "internal-notes"]}}"#;
    assert_snapshot!(check(PROJECT, arguments), @r#"
        # Topic: project

        ## Available subjects:

        - code-quality

        Use the `learn` tool with the `subjects` argument to learn specific subjects.

        ## Already learned (in system prompt):

        - maintainers/jean
        - maintainers/ryan
        "#);
}

#[test]
fn an_untitled_topic_is_headed_by_its_id_or_else_by_what_was_asked() {
    let with_id = check(&[], r#"{"topic": "SKILLS", "_topic": {"id": "skills"}}"#);
    assert!(with_id.starts_with("# Topic: skills\n"), "{with_id}");
    let without = check(&[], r#"{"topic": "SKILLS"}"#);
    assert!(without.starts_with("# Topic: SKILLS\n"), "{without}");
}

#[test]
fn a_topic_with_nothing_to_learn_says_so() {
    assert_snapshot!(check(&[("empty/", "")], r#"{"topic": "t"}"#), @r#"
        # Topic: t

        There are no subjects to learn in this topic.
        "#);
    assert_snapshot!(
        check(&[("a.md", "")], r#"{"topic": "t", "_topic": {"learned": ["**"]}}"#), @r#"
        # Topic: t

        There are no subjects to learn in this topic.

        ## Already learned (in system prompt):

        - a
        "#);
    assert_snapshot!(
        check(&[("a.md", "")], r#"{"topic": "t", "_topic": {"disabled": ["a"]}}"#), @r#"
        # Topic: t

        There are no subjects to learn in this topic.
        "#);
}

#[test]
fn empty_requests_mean_the_listing() {
    let listing = check(PROJECT, r#"{"topic": "t"}"#);
    for subjects in ["null", "[]", r#""""#, r#"[" "]"#] {
        let arguments = format!(r#"{{"topic": "t", "subjects": {subjects}}}"#);
        assert_eq!(check(PROJECT, &arguments), listing, "{subjects}");
    }
}

#[test]
fn disabled_beats_learned_and_takes_globs_that_reach_hidden_subjects() {
    let topic = r#""_topic": {"disabled": ["a", ".x", "h/**"], "learned": ["a", "*"]}"#;
    let tree: Tree<'_> = &[
        ("a.md", "A"),
        ("b.md", "B"),
        (".h/c.md", "C"),
        ("d/e.md", "E"),
    ];
    assert_snapshot!(check(tree, &format!(r#"{{"topic": "t", {topic}}}"#)), @r#"
        # Topic: t

        ## Available subjects:

        - d/e

        Use the `learn` tool with the `subjects` argument to learn specific subjects.

        ## Already learned (in system prompt):

        - b
        "#);
    for gone in ["a", "h/c"] {
        let text = check(
            tree,
            &format!(r#"{{"topic": "t", "subjects": "{gone}", {topic}}}"#),
        );
        assert!(
            text.starts_with(&format!("error: No subject matches `{gone}`")),
            "{text}"
        );
    }
}

#[test]
fn files_that_share_a_slug_are_listed_once() {
    let tree: Tree<'_> = &[("x.md", ""), ("x.toml", ""), (".x.md", ""), ("x/y.md", "")];
    assert_snapshot!(check(tree, r#"{"topic": "t"}"#), @r#"
        # Topic: t

        ## Available subjects:

        - x
        - x/y

        Use the `learn` tool with the `subjects` argument to learn specific subjects.
        "#);
}

#[test]
fn slugs_follow_from_paths() {
    for (path, slug, hidden) in [
        ("a.md", "a", false),
        ("a", "a", false),
        ("a.tar.gz", "a.tar", false),
        ("m/j.md", "m/j", false),
        ("v1.2/notes.md", "v1.2/notes", false),
        (".internal-notes.md", "internal-notes", true),
        ("ast-grep/.rules.md", "ast-grep/rules", true),
        (".hidden-dir/visible.md", "hidden-dir/visible", true),
        (".gitignore", "gitignore", true),
        (".md", "md", true),
        ("..a.md", "a", true),
        ("...", "..", true),
        ("é.md", "é", false),
    ] {
        assert_eq!(crate::slug::slug(path), slug, "{path}");
        assert_eq!(crate::slug::is_hidden(path), hidden, "{path}");
    }
}

#[test]
fn calls_are_formatted_on_one_line() {
    let dir = lay_out(&[]);
    for (arguments, shown) in [
        (
            r#"{"topic": "skills", "subjects": ["a", "b"], "_topic": {}}"#,
            r#"learn(topic: "skills", subjects: ["a", "b"])"#,
        ),
        (
            r#"{"topic": "skills", "subjects": "**"}"#,
            r#"learn(topic: "skills", subjects: "**")"#,
        ),
        (
            r#"{"topic": "a\n\u001b\u202e\"", "subjects": null}"#,
            r#"learn(topic: "a\n\u001b\u{202e}\"")"#,
        ),
    ] {
        assert_eq!(
            run_in(dir.path(), Action::FormatArguments, arguments),
            shown
        );
    }
}

#[test]
fn malformed_arguments_are_an_error() {
    let deep = format!(
        r#"{{"topic": "t", "subjects": {}{}}}"#,
        "[".repeat(9000),
        "]".repeat(9000)
    );
    for (arguments, message) in [
        ("", "EOF while parsing"),
        ("[]", "invalid length 0"),
        ("{}", "missing field `topic`"),
        (r#"{"topic": 1}"#, "invalid type: integer"),
        (
            r#"{"topic": "t", "subject": "a"}"#,
            "unknown field `subject`",
        ),
        (
            r#"{"topic": "t", "subjects": 1}"#,
            "`subjects` must be a string",
        ),
        (
            r#"{"topic": "t", "subjects": ["a", 1]}"#,
            "`subjects` must be a string",
        ),
        (
            r#"{"topic": "t", "_topic": {"learned": "a"}}"#,
            "invalid type: string",
        ),
        (&deep, "recursion limit exceeded"),
    ] {
        let text = check(&[], arguments);
        assert!(
            text.starts_with(&format!("error: Invalid arguments: {message}")),
            "{text}"
        );
    }
}
