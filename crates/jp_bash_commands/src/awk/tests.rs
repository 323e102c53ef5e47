//! Whole programs as the user calls them, and the ones that mean harm.

use jp_bash_system::{Limit, Stop};
use proptest::prelude::*;

use super::run;
use crate::fixture::{Fixture, Ran};

const INPUT: &[u8] = b"the quick brown fox\n1 2 3\n10 20 30\n";

fn awk(program: &str) -> Ran {
    Fixture::default().stdin(INPUT).run(run, &["awk", program])
}

#[test]
fn programs_print_what_awk_prints() {
    let table: &[(&str, &str)] = &[
        ("{print NF, $1, $NF}", "4 the fox\n3 1 3\n3 10 30\n"),
        ("{s+=$2}END{print s}", "22\n"),
        ("NR==2,NR==3{print NR}", "2\n3\n"),
        ("/o/", "the quick brown fox\n"),
        ("!/o/{n++}END{print n}", "2\n"),
        ("BEGIN{x=\"a\"; x = x \"b\" x; print x}", "aba\n"),
        (
            "BEGIN{print 1 \" \" -1, 2^3^2, -2^2, 1==1.0, \"10\"<\"9\"}",
            "1-1 512 -4 1 1\n",
        ),
        (
            "BEGIN{print substr(\"hello\",0,2), substr(\"h\u{e9}llo\",2,1), length(\"h\u{e9}\")}",
            "he \u{e9} 2\n",
        ),
        (
            "BEGIN{while(i++<5){if(i==2)continue;if(i==4)break;printf \"%d \",i}print \"\"}",
            "1 3 \n",
        ),
        (
            "BEGIN{a[\"x\"];a[2];a[1];for(k in a)printf \"%s \",k;print length(a)}",
            "1 2 x 3\n",
        ),
        (
            "function f(n){return n<2?1:n*f(n-1)}BEGIN{print f(10)}",
            "3628800\n",
        ),
        ("function g(a){a[1]=5}BEGIN{g(x);print x[1]}", "5\n"),
        (
            "BEGIN{printf \"%5.2f|%-4s|%c|%x|%05d\\n\",3.14159,\"ab\",65,255,42}",
            " 3.14|ab  |A|ff|00042\n",
        ),
        ("{$2=\"\";print;print NF}NR==1{exit}", "the  brown fox\n4\n"),
        (
            "BEGIN{getline;print \"got \" $0;getline x;print x,NR}",
            "got the quick brown fox\n1 2 3 2\n",
        ),
        ("BEGIN{s=\"aaa\";print gsub(/x*/,\"-\",s),s}", "4 -a-a-a-\n"),
        (
            "BEGIN{print match(\"xaab\",/a+/),RSTART,RLENGTH}",
            "2 2 2\n",
        ),
        ("BEGIN{n=split(\"a:b:c\",p,\":\");print n,p[3]}", "3 c\n"),
        (
            "BEGIN{switch(3){case 1:print 1;case 3:print 3;case 4:print 4;break;default:print 9}}",
            "3\n4\n",
        ),
        ("BEGIN{RS=\"\"}{print NF}", "10\n"),
        (
            "{print > \"out\"}END{close(\"out\");while((getline l<\"out\")>0)n++;print n}",
            "3\n",
        ),
        ("BEGIN{print length()length}", "00\n"),
        ("BEGIN{print 1>2 ? 3 : 4}", ""),
        ("BEGIN{print toupper(\"abc\") > \"/dev/stdout\"}", "ABC\n"),
        (
            "BEGIN{print 2^53+1, 1e30, 0.1+0.2, 1e6, 100000*100000}",
            "9007199254740992 1000000000000000019884624838656 0.3 1000000 10000000000\n",
        ),
    ];
    for (program, stdout) in table {
        assert_eq!(awk(program).stdout, *stdout, "{program}");
    }
}

#[test]
fn options_and_operands_are_read_in_order() {
    let files = || {
        Fixture::default()
            .file("p.awk", b"{print x, $1}")
            .file("d", b"a:b\n")
            .file("e", b"c:d\n")
    };
    let table: &[(&[&str], &str)] = &[
        (
            &["awk", "-F:", "-v", "x=1\\t2", "-f", "p.awk", "d"],
            "1\t2 a\n",
        ),
        (
            &["awk", "-f", "p.awk", "x=5", "d", "x=6", "FS=:", "e"],
            "5 a:b\n6 c\n",
        ),
        (
            &["awk", "--", "{print FILENAME, FNR, NR}", "d", "e"],
            "d 1 1\ne 1 2\n",
        ),
        (&["gawk", "-e", "BEGIN{print ARGC, ARGV[1]}", "d"], "2 d\n"),
        (&["awk", "-Ft", "BEGIN{print FS}"], "t\n"),
    ];
    for (words, stdout) in table {
        assert_eq!(files().run(run, words).stdout, *stdout, "{words:?}");
    }
}

#[test]
fn errors_are_in_gawks_words() {
    let table: &[(&str, &str, i32)] = &[
        (
            "BEGIN{x=0;print 1/x}",
            "awk: cmd. line:1: fatal: division by zero attempted\n",
            2,
        ),
        (
            "BEGIN{\nx=0;x/=0}",
            "awk: cmd. line:2: fatal: division by zero attempted in `/='\n",
            2,
        ),
        (
            "BEGIN{f(1)}",
            "awk: cmd. line:1: fatal: function `f' not defined\n",
            2,
        ),
        (
            "BEGIN{a[1];print a}",
            "awk: cmd. line:1: fatal: attempt to use array `a' in a scalar context\n",
            2,
        ),
        (
            "BEGIN{print 1 +}",
            "awk: cmd. line:1: BEGIN{print 1 +}\nawk: cmd. line:1:                ^ syntax error\n",
            2,
        ),
        (
            "BEGIN{next}",
            "awk: cmd. line:1: error: `next' used in BEGIN action\n",
            2,
        ),
        (
            "BEGIN{\"x\" |& getline}",
            "awk: cmd. line:1: error: `|&' (two-way pipes) is not supported\n",
            2,
        ),
        (
            "/a(/",
            "awk: cmd. line:1: error: Unmatched ( or \\(: /a(/\n",
            2,
        ),
        (
            "{print $(0-1)}",
            "awk: cmd. line:1: fatal: attempt to access field -1\n",
            2,
        ),
    ];
    for (program, stderr, status) in table {
        let ran = awk(program);
        assert_eq!(ran.stderr, *stderr, "{program}");
        assert_eq!(ran.status, Ok(*status), "{program}");
    }
}

#[test]
fn hostile_programs_are_stopped_by_a_limit() {
    let table: &[(&str, Limit)] = &[
        ("BEGIN{while(1);}", Limit::Loops),
        ("BEGIN{for(;;)i++}", Limit::Loops),
        ("BEGIN{do;while(1)}", Limit::Loops),
        ("function f(){f()}BEGIN{f()}", Limit::Depth),
        (
            "function f(a,b){return f(b,a)+1}BEGIN{f(1,2)}",
            Limit::Depth,
        ),
        ("BEGIN{s=\"abcdefgh\";while(1)s=s s}", Limit::Memory),
        (
            "BEGIN{while(1)s=s \"0123456789012345678901234567890123456789\"}",
            Limit::Memory,
        ),
        ("BEGIN{while(1)a[i++]=\"x\"}", Limit::Memory),
        ("BEGIN{while(1)a[i++ \"k\"]=\"x\"}", Limit::Memory),
        ("BEGIN{printf \"%999999999s\",\"x\"}", Limit::Memory),
        ("BEGIN{printf \"%.999999999f\",1}", Limit::Memory),
        ("BEGIN{x=sprintf(\"%*d\",2e9,1)}", Limit::Memory),
        ("BEGIN{$16000000=1}", Limit::Memory),
        ("BEGIN{NF=16000000}", Limit::Memory),
        (
            "BEGIN{s=sprintf(\"%100000s\",\"\");while(1)gsub(/ /,\"     \",s)}",
            Limit::Memory,
        ),
        ("BEGIN{while((getline l<\"nofile\")<1);}", Limit::Loops),
        ("BEGIN{while(1){print 1>\"f\";close(\"f\")}}", Limit::Loops),
    ];
    for (program, limit) in table {
        let mut fixture = Fixture::default();
        fixture.turns_left = Some(500_000);
        fixture.memory_left = Some(8 << 20);
        let status = fixture.run(run, &["awk", program]).status;
        assert_eq!(status, Err(Stop::Limit(*limit)), "{program}");
    }
    let ran = awk("BEGIN{$99999999=1}");
    assert_eq!(ran.status, Ok(2), "too many fields are refused");
}

#[test]
fn memory_is_given_back_at_the_end() {
    let mut fixture = Fixture::default();
    fixture.memory_left = Some(32 << 20);
    fixture.run(
        run,
        &[
            "awk",
            "BEGIN{for(i=0;i<1000;i++)a[i]=sprintf(\"%1000s\",i)}",
        ],
    );
    assert_eq!(fixture.memory_left, Some(32 << 20));
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = [
        "(", "{", "[", "!", "-", "$", "a[", "f(", "if(1)", "x=", "1?", "1?1:", "length(", "++",
        "2^", "2^-", "getline<",
    ];
    for piece in deep {
        let program = format!("BEGIN{{x={}", piece.repeat(100_000));
        assert_eq!(awk(&program).status, Ok(2), "{piece}");
        let program = format!("BEGIN{{{}", piece.repeat(100_000));
        assert_eq!(awk(&program).status, Ok(2), "{piece}");
    }
    for chain in ["+1", " 1", "||0", "&&1", "*1", "==1", " in a", "~1", "%7"] {
        let program = format!("BEGIN{{x=1{};print \"ok\"}}", chain.repeat(20_000));
        assert_eq!(awk(&program).stdout, "ok\n", "{chain}");
    }
}

/// The parser must fit the small stacks that pipeline stages run on.
#[test]
fn the_deepest_program_fits_a_small_stack() {
    let handle = std::thread::Builder::new().stack_size(640 << 10).spawn(|| {
        for piece in [
            "(",
            "!",
            "a[",
            "{",
            "if(1)",
            "f(",
            "1?1:",
            "$",
            "length(",
            "1+(",
            "1 (",
            "1?(",
            "x=1+(",
            "a[1+f(",
            "0||1~(",
            "if(1)while(1)",
        ] {
            awk(&format!("BEGIN{{x={}", piece.repeat(1000)));
            awk(&format!("BEGIN{{{}", piece.repeat(1000)));
        }
    });
    assert!(handle.unwrap().join().is_ok());
}

fn bounded(words: &[&[u8]]) {
    let mut fixture = Fixture::default().stdin(INPUT);
    fixture.turns_left = Some(2_000);
    fixture.memory_left = Some(1 << 20);
    let args: Vec<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
    let _ = run(&mut fixture, &args);
}

/// Runs a program on more lines than a buffer holds.
fn awk_on_many(program: &str, tail: &str) -> String {
    let line = |n: usize| format!("{n} the quick brown fox {} jumps over\n", n % 97);
    let mut input: String = (0..3000).map(line).collect();
    input.push_str(tail);
    let ran = Fixture::default()
        .stdin(input.as_bytes())
        .run(run, &["gawk", program]);
    format!("{}{}[{:?}]", ran.stdout, ran.stderr, ran.status)
}

#[test]
fn records_that_no_rule_is_for_are_passed_over_unseen() {
    // The same rules twice: as regexes alone, and so that every record must be looked at.
    let table: &[(&str, &[&str])] = &[
        (
            "@ { n += NR; last = $1 } END { print n, last, NR, FNR, $0, NF, RT }",
            &["9 jumps"],
        ),
        ("@ { print NR, $0 }", &["^1.*fox 5 "]),
        (
            "@ { print NR; getline; print NR, $6 } END { print NR }",
            &["fox 96 "],
        ),
        (
            "@ { print NR; next } @ { print \"b\", FNR } END { print $0 }",
            &["x 13 ", "^29?9 "],
        ),
        (
            "@ { if (++n == 3) { RS = \"fox\" } print NR, $1 } END { print NR, $0 }",
            &["k brown"],
        ),
        (
            "@ { IGNORECASE = 1; n++ } END { print n, $0 }",
            &["^5 |FOX 7 "],
        ),
        ("@ { n++ } END { print n, NR, $0 }", &["nothing"]),
        ("@ { n++ } END { print n, NR }", &["."]),
        ("@ { n++ } END { print n, NR }", &["^$"]),
        (
            "@ { n++; if (n == 40) exit n } END { print NR, $0 }",
            &["fox [0-9] "],
        ),
    ];
    for (program, regexes) in table {
        for tail in ["", "\n", "end without newline", "\n\n5 end\n"] {
            let (mut alone, mut looked_at) = ((*program).to_owned(), (*program).to_owned());
            for regex in *regexes {
                alone = alone.replacen('@', &format!("/{regex}/"), 1);
                looked_at = looked_at.replacen('@', &format!("NR && /{regex}/"), 1);
            }
            assert_eq!(
                awk_on_many(&alone, tail),
                awk_on_many(&looked_at, tail),
                "{alone}"
            );
        }
    }
    assert_eq!(
        awk_on_many("/fox 42 / { n++ } END { print n, NR, $0 }", "last"),
        "31 3001 last\n[Ok(0)]"
    );
}

#[test]
fn a_piece_of_a_field_is_cut_when_it_was_loaded() {
    let table: &[(&str, &str)] = &[
        (
            "NR==1{print substr($0,5,5), substr($2,2), substr($9,1) \".\"}",
            "quick uick .\n",
        ),
        (
            "NR==1{$2=\"h\u{e9}llo\"; print substr($2,2,2), substr($0,5,2)}",
            "\u{e9}l h\u{e9}\n",
        ),
        (
            "NR==1{print substr($0, ($0 = \"changed\") ? 1 : 2, 3)}",
            "the\n",
        ),
        (
            "NR==1{i=5; print substr($0, i, i-2), toupper(substr($0, 1, 3))}",
            "qui THE\n",
        ),
        (
            "NR==1{print toupper(substr(\"a\u{e9}\",1)) tolower(\"ABC\")}",
            "A\u{c9}abc\n",
        ),
        (
            "NR==1{print gsub(/o/,\"0\"), $0, NF, gsub(/z/,\"y\"), $3}",
            "2 the quick br0wn f0x 4 0 br0wn\n",
        ),
        (
            "NR==1{print gsub(/ /,\"\"), $0, NF}",
            "3 thequickbrownfox 1\n",
        ),
        (
            "NR==1{print gsub(/ck/,\"&&\"), gsub(/ /,\"_\"), $0, NF}",
            "1 3 the_quickck_brown_fox 1\n",
        ),
        (
            "NR==1{x=$0; print gsub(/qui/,\"QUI\",x), x}",
            "1 the QUIck brown fox\n",
        ),
    ];
    for (program, expected) in table {
        assert_eq!(awk(program).stdout, *expected, "{program}");
    }
}

const PIECES: &[&str] = &[
    "BEGIN",
    "END",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "a",
    "b[",
    "$",
    "1",
    "0.5",
    "\"x\"",
    "/re/",
    "+",
    "-",
    "*",
    "/",
    "^",
    "++",
    "--",
    "=",
    "+=",
    "<",
    ">",
    ">>",
    "|",
    "~",
    "!",
    "in",
    "getline",
    "print",
    "printf",
    "if",
    "else",
    "while",
    "for",
    "do",
    "function f(",
    "f(",
    "return",
    "next",
    "exit",
    "delete",
    ",",
    ";",
    "\n",
    "?",
    ":",
    "&&",
    "||",
    "split(",
    "gsub(",
    "substr(",
    "sprintf(",
    "NF",
    "NR",
    "FS",
    "RS",
    "SUBSEP",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "length",
    "match(",
    "asort(",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(program: Vec<u8>) {
        bounded(&[b"awk", b"--", &program]);
        bounded(&[b"gawk", b"-v", &program, b"--", b"{print}", &program]);
    }

    #[test]
    fn random_tokens_never_panic(picks in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let words: Vec<&str> = picks.iter().filter_map(|at| PIECES.get(*at).copied()).collect();
        bounded(&[b"awk", words.join(" ").as_bytes()]);
        bounded(&[b"awk", format!("BEGIN{{{}}}", words.join(" ")).as_bytes()]);
    }

    #[test]
    fn random_formats_never_panic(format: Vec<u8>, num: f64) {
        let program = b"BEGIN{printf ENVIRON[\"F\"], n, n, n, \"s\"; CONVFMT=ENVIRON[\"F\"]; x = n \"\"}";
        let mut fixture = Fixture::default();
        fixture.memory_left = Some(1 << 20);
        fixture.env.insert(b"F".to_vec(), format);
        let args = [b"awk".to_vec(), b"-v".to_vec(), format!("n={num:e}").into_bytes(), program.to_vec()];
        let _ = run(&mut fixture, &args);
    }
}
