//! Scripts and the trees they become.

use super::shape::Shape;
use super::{parse, parse_with};
use crate::names::Names;
use crate::parser::{ParseOptions, Parser};
use crate::text::{parse_arith, parse_array_text, parse_quoted_text};

fn tree(script: &str) -> String {
    let mut names = Names::default();
    match parse(script.as_bytes(), &mut names) {
        Ok(list) => Shape(&names).list(&list),
        Err(error) => {
            let lines = error.messages.iter();
            lines.map(|line| String::from_utf8_lossy(&line.1)).collect()
        }
    }
}

fn check(table: &[(&str, &str)]) {
    for (script, want) in table {
        assert_eq!(tree(script), *want, "{script}");
    }
}

#[test]
fn words_and_quotes() {
    check(&[
        ("echo a 'b' \"c\" \\d", "echo a 'b' 'c' 'd'"),
        ("echo a'b'c", "echo a.'b'.c"),
        ("echo \"a $x b\"", "echo \"'a '.${x}.' b'\""),
        ("echo '' \"\"", "echo '' ''"),
        ("echo $'a\\tb'", "echo 'a\\tb'"),
        ("echo $1 $10 $? $", "echo ${1} ${1}.0 ${?} $"),
        ("echo a\\\nb", "echo ab"),
        ("echo ~ ~u/x a~ x=~:~", "echo ~<> ~<u>./x a~ x=.~<>.:.~<>"),
        ("x=~:a:~/b", "x=~<>.:a:.~<>./b"),
        ("echo a#b #c", "echo a#b"),
        ("cat <(a) >(b)", "cat <(a) >(b)"),
    ]);
}

#[test]
fn braces() {
    check(&[
        ("echo {a,b}", "echo {a,b}"),
        ("echo x{a,{b,c}d}y", "echo x.{a,{b,c}.d}.y"),
        (
            "echo {1..3} {a..c..2} {01..10}",
            "echo {1..3..1w0} {97..99..2w0L} {1..10..1w2}",
        ),
        ("echo {a {} {a} {1..a}", "echo {a {} {a} {1..a}"),
        ("echo {a,$x}\"b\"", "echo {a,${x}}.'b'"),
        ("echo {\"a,b\",c}", "echo {'a,b',c}"),
        ("x={a,b}", "x={a,b}"),
        ("echo {a,b}} {{a,b}", "echo {a,b}.} {.{a,b}"),
        ("echo {,}", "echo {,}"),
    ]);
}

#[test]
fn parameters() {
    check(&[
        ("echo ${x} ${#x} ${!x}", "echo ${x} ${x Length} ${!x}"),
        ("echo ${x:-a b}", "echo ${x default true a b}"),
        ("echo ${x-}", "echo ${x default false }"),
        ("echo ${x:1:2}", "echo ${x sub 1 2}"),
        ("echo ${x: -1}", "echo ${x sub -1 -}"),
        ("echo ${x//a/b}", "echo ${x replace All a b}"),
        ("echo ${x/#a}", "echo ${x replace Start a }"),
        ("echo ${x##*/}", "echo ${x prefix true */}"),
        ("echo ${x^^[a]}", "echo ${x case Upper true [a]}"),
        (
            "echo ${a[@]} ${#a[*]} ${!a[@]}",
            "echo ${a[@]} ${a[*] Length} ${a[@] Keys}",
        ),
        ("echo ${a[i+1]}", "echo ${a[(Add i 1)~i+1]}"),
        (
            "echo ${!p*} ${!p@}",
            "echo ${p Prefix { at: false }} ${p Prefix { at: true }}",
        ),
        (
            "echo ${#} ${##} ${#-x}",
            "echo ${#} ${# Length} ${# default false x}",
        ),
        ("echo ${x@Q} ${x y}", "echo ${x Transform(81)} ${x Bad}"),
        ("echo \"${x:-'a'}\"", "echo \"${x default true '\\'a\\''}\""),
        ("echo ${x:?}", "echo ${x error -}"),
    ]);
}

#[test]
fn substitutions() {
    check(&[
        ("echo $(a; b)", "echo $(a; b)"),
        ("echo `a \\`b\\``", "echo $(a $(b))"),
        (
            "echo $(case x in x) a;; esac)",
            "echo $(case x [x -> a Break])",
        ),
        ("echo $((1+2)) $[x]", "echo $((3)) $((x))"),
        ("echo $((a); (b))", "echo $(( a ); ( b ))"),
    ]);
}

#[test]
fn arithmetic() {
    let cases = [
        ("1+2*x", "(Add 1 (Mul 2 x))"),
        ("2**x**y", "(Pow 2 (Pow x y))"),
        ("a=b=c", "(= a (= b c))"),
        ("a?b:c?d:e", "(? a b (? c d e))"),
        ("x++ + ++y", "(Add (post+1 x) (pre+1 y))"),
        ("-x**2", "(Pow (Minus x) 2)"),
        ("!x&&~y||z", "(|| (&& (Not x) (BitNot y)) z)"),
        ("a[i]+=2,b", "(, (Add= a[i~'i'] 2) b)"),
        ("16#ff+0x1F+017+64#@_", "4332"),
        ("x<<=2", "(Shl= x 2)"),
        ("(x)", "(Plus x)"),
        ("", "0"),
    ];
    for (text, want) in cases {
        let mut names = Names::default();
        let expr = parse_arith(text.as_bytes(), &mut names, &ParseOptions::default()).unwrap();
        assert_eq!(Shape(&names).expr(&expr), want, "{text}");
    }
    check(&[
        ("(( $x * 2 ))", "(((Mul ${x} 2)))"),
        ("((1$x))", "((text<'1'.${x}>))"),
        ("((a $op b))", "((text<'a '.${op}.' b'>))"),
        ("((1 +))", "((text<'1 +'>))"),
    ]);
}

#[test]
fn errors_of_arithmetic_in_bash_words() {
    let cases = [
        (
            "1 +",
            "1 +: syntax error: operand expected (error token is \"+\")",
        ),
        ("08", "08: value too great for base (error token is \"08\")"),
        (
            "1 2",
            "1 2: syntax error in expression (error token is \"2\")",
        ),
        (
            "1 @",
            "1 @: syntax error: invalid arithmetic operator (error token is \"@\")",
        ),
        ("(1", "(1: missing `)' (error token is \"1\")"),
        (
            "1=2",
            "1=2: attempted assignment to non-variable (error token is \"=2\")",
        ),
        (
            "65#1",
            "65#1: invalid arithmetic base (error token is \"65#1\")",
        ),
    ];
    for (text, want) in cases {
        let error = parse_arith(
            text.as_bytes(),
            &mut Names::default(),
            &ParseOptions::default(),
        )
        .unwrap_err();
        let token = String::from_utf8_lossy(&error.token);
        let got = format!("{text}: {} (error token is \"{token}\")", error.message);
        assert_eq!(got, want);
    }
}

#[test]
fn commands() {
    check(&[
        ("x=1 a[i]+=2 cmd y=3", "x=1 a[i~i]+=2 cmd y=3"),
        (
            "declare x=$y a=(1 [2]=b)",
            "declare decl:x=${y} decl:a=(1 [2~2]=b)",
        ),
        ("a 2>&1 >f {v}<g <<<w &>h", "a 2>&1 >f {v}<g <<<w &>h"),
        ("! a | b && c || d &", "!a | b And c Or d &"),
        ("a |& b", "a 2>&1 | b"),
        (
            "if a; then b; elif c; then d; else e; fi",
            "if[a -> b][c -> d]Some(\"e\")",
        ),
        ("for i; do a; done", "for i in - [a]"),
        (
            "for ((i=0;;i++)); do a; done",
            "for(((= i 0);-;(post+1 i))) [a]",
        ),
        (
            "case x in a|b) c;& (d) ;; esac",
            "case x [a b -> c FallThrough][d ->  Break]",
        ),
        ("f() { a; } >x", "fn f { a } >x"),
        (
            "[[ a == b* && ! -f c || ( d ) ]]",
            "[[((Match a b* && !(-f c)) || d)]]",
        ),
        ("[[ a =~ ^(b|c)\\. ]]", "[[Regex a ^(b|c)\\\\.]]"),
        ("[[ a == @(b|c) ]]", "[[Match a @(b|c)]]"),
        ("cat <<E\na $x\nE\n", "cat <<'a '.${x}.'\\n'"),
        ("time -p a", "time a"),
        ("coproc N { a; }", "coproc N { a }"),
        ("((a);(b))", "( ( a ); ( b ) )"),
        ("until a; do b; done", "while![a -> b]"),
    ]);
}

#[test]
fn extended_patterns_only_where_the_option_is_on() {
    let options = ParseOptions {
        extglob: true,
        ..ParseOptions::default()
    };
    let mut names = Names::default();
    let list = parse_with(b"echo !(a|b*)c", &mut names, options).unwrap();
    assert_eq!(Shape(&names).list(&list), "echo !(a|b*).c");
    assert!(tree("echo !(a)").contains("unexpected token"));
}

#[test]
fn one_line_at_a_time_with_its_aliases() {
    let mut names = Names::default();
    let mut parser = Parser::new(b"a x\nb\nif", ParseOptions::default());
    let aliases = |name: &[u8]| (name == b"a").then(|| b"echo 1 ".as_slice().into());
    let list = parser.next(&mut names, &aliases).unwrap().unwrap();
    assert_eq!(Shape(&names).list(&list), "echo 1 x");
    let list = parser.next(&mut names, &|_| None).unwrap().unwrap();
    assert_eq!(list[0].first.commands[0].line, 2);
    let error = parser.next(&mut names, &|_| None).unwrap_err();
    assert_eq!(error.line(), 4);
    assert!(parser.next(&mut names, &|_| None).unwrap().is_none());
}

#[test]
fn an_alias_ending_in_a_blank_makes_the_next_word_one() {
    let aliases = |name: &[u8]| -> Option<std::sync::Arc<[u8]>> {
        match name {
            b"s" => Some(b"command ".as_slice().into()),
            b"e" => Some(b"echo z".as_slice().into()),
            _ => None,
        }
    };
    let mut names = Names::default();
    let mut parser = Parser::new(b"s e y e\ns x e", ParseOptions::default());
    let list = parser.next(&mut names, &aliases).unwrap().unwrap();
    assert_eq!(Shape(&names).list(&list), "command echo z y e");
    let list = parser.next(&mut names, &aliases).unwrap().unwrap();
    assert_eq!(Shape(&names).list(&list), "command x e");
}

#[test]
fn texts_at_run_time() {
    let mut names = Names::default();
    let options = ParseOptions::default();
    let word = parse_quoted_text(b"a \"$x\" 'b'", &mut names, &options).unwrap();
    assert_eq!(Shape(&names).word(&word), "'a \\\"'.${x}.'\\\" \\'b\\''");
    assert_eq!(
        parse_array_text(b"(1 [2]=3)", &mut names, &options)
            .unwrap()
            .len(),
        2
    );
}
