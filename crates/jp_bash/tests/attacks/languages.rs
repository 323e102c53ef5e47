//! The languages inside commands: awk, sed, jq, regular expressions.

use jp_bash::{Bounds, Limit};

use crate::support::{attack, attack_deep, attack_within, tight};

const ENDLESS: &[Limit] = &[Limit::Loops, Limit::Time];
const GROWING: &[Limit] = &[Limit::Memory, Limit::Loops];

#[test]
fn a15_endless_awk_stops() {
    attack("echo before; awk 'BEGIN{while(1){}}'")
        .stops_at_any(ENDLESS)
        .prints("before\n");
    attack("awk 'BEGIN{for(;;);}'").stops_at_any(ENDLESS);
    attack("awk 'BEGIN{do{}while(1)}'").stops_at_any(ENDLESS);
    attack("awk '{while(1);}' <<< x").stops_at_any(ENDLESS);
    attack("awk 'function f(){f()} BEGIN{f()}'; echo $?");
    attack_deep("awk 'function f(n){return f(n+1)+f(n+2)} BEGIN{f(0)}'; echo $?");
    attack("awk '{print; getline < FILENAME; close(FILENAME)}' /dev/zero").stops_at_any(&[
        Limit::Loops,
        Limit::Time,
        Limit::Memory,
    ]);
    attack("awk 'BEGIN{while((\"echo x\" | getline y) >= 0) close(\"echo x\")}'").stops_at_any(&[
        Limit::Loops,
        Limit::Time,
        Limit::Commands,
    ]);
    attack("awk 'BEGIN{while(1) system(\":\")}'").stops_at_any(&[Limit::Loops, Limit::Commands]);
}

#[test]
fn a16_growing_awk_stops_at_the_memory_limit() {
    attack("awk 'BEGIN{s=\"aaaaaaaa\"; while(1) s=s s}'").stops_at(Limit::Memory);
    attack("awk 'BEGIN{while(1) a[i++]=i}'").stops_at_any(GROWING);
    attack_within(tight(), "awk 'BEGIN{s=\"a\"; while(1) gsub(/a/,\"aa\",s)}'")
        .stops_at_any(GROWING);
    attack("awk 'BEGIN{while(1){s=s \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"; a[s]}}'").stops_at_any(GROWING);
    attack("awk 'BEGIN{$0=\"a a\"; while(1) $0=$0 \" \" $0}'").stops_at_any(GROWING);
    attack("awk 'BEGIN{s=sprintf(\"%1000000s\",\"\"); while(1) n=split(s,a,\"\")}'")
        .stops_at_any(GROWING);
    attack("awk 'BEGIN{s=\"x\"; while(1) s=toupper(s s)}'").stops_at(Limit::Memory);
    attack("awk 'BEGIN{RS=\"x\"} {}' /dev/zero").stops_at_any(&[Limit::Memory, Limit::Time]);
}

#[test]
fn a17_awk_with_huge_numbers_stops_or_fails() {
    for script in [
        "awk 'BEGIN{printf \"%999999999s\", 1}'",
        "awk 'BEGIN{printf \"%*d\", 999999999, 1}'",
        "awk 'BEGIN{printf \"%.999999999f\", 1}'",
        "awk 'BEGIN{x=sprintf(\"%999999999d\", 1)}'",
        "awk 'BEGIN{$99999999=1; print NF}'",
        "awk 'BEGIN{NF=999999999; print}'",
        "awk 'BEGIN{$0=\"a\"; $(2^53)=1}'",
    ] {
        let outcome = attack(script);
        assert!(outcome.result.exit_code != 0, "{outcome}");
    }
    for script in [
        "awk 'BEGIN{print substr(\"abc\",-1e300,1e300), substr(\"abc\",1e300), substr(\"abc\",\"nan\")}'",
        "awk 'BEGIN{$-1=1}'; awk 'BEGIN{print $(1e300)}'; awk 'BEGIN{NF=-1}'; awk 'BEGIN{print $\"nan\"}'",
        "awk 'BEGIN{print 1/0}'; awk 'BEGIN{print 1%0}'; awk 'BEGIN{print 2^99999, -2^0.5, log(-1), exp(9999), int(\"0x\"), 1e999}'",
        "awk 'BEGIN{printf \"%c%c%c\", 1e300, -1, 256}' | wc -c; awk 'BEGIN{printf \"%d %x %o\\n\", 1e300, -1, \"inf\"}'",
        "awk 'BEGIN{printf \"%s\"}'; awk 'BEGIN{printf \"%\"}'; awk 'BEGIN{printf \"%z\"}'; awk 'BEGIN{printf \"%*s\"}'",
        "awk 'BEGIN{print lshift(1,1e300), rshift(1,-1), compl(-1), strtonum(\"0xfffffffffffffffffffff\")}'",
        "awk 'BEGIN{print substr(\"é\",1,1), index(\"é\",\"\"), length(\"\\377\"), toupper(\"é\\377\")}'",
        "awk 'BEGIN{print strftime(\"%c\",1e300), mktime(\"x\"), strftime(\"%\")}'; awk 'BEGIN{srand(1e300); print rand()<1}'",
        "awk -F '(' '{print $1}' <<< 'a(b'; awk -F '[' '{}' <<< x; awk -v 'RS=(' '{}' <<< x; awk '/(/' <<< x; awk '{gsub(/x*/,\"-\")}1' <<< abc",
        "awk 'BEGIN{getline x < \"/\"; getline < \"\"; print > \"/\"; print | \"\"}'; awk 'BEGIN{close(\"\"); fflush(1)}'; awk 'BEGIN{system(\"\")}'",
        "awk 'BEGIN { a[1]; delete a; a = 1 }'; awk 'function f(a){a[1]=1} BEGIN{x=1; f(x)}'; awk 'BEGIN{f()}'; awk 'function f(f){}'; awk ''",
        "awk 'BEGIN{split(\"a b\", a, \"(\")}'; awk 'BEGIN{match(\"a\", \"*\"); print RSTART}'; awk 'BEGIN{print \"a\" ~ \"+\"}'; awk 'BEGIN{exit 99999999999}'",
    ] {
        attack(script);
    }
    let n = 20_000;
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("!", ""),
        ("$", ""),
        ("a[", "]"),
        ("1?", ":1"),
        ("x=", ""),
        ("1^", ""),
        ("f(", ")"),
        ("\"\" ", ""),
    ] {
        attack_deep(&format!(
            "cat > p <<'E'\nfunction f(x){{}} BEGIN{{print {}1{}}}\nE\nawk -f p",
            open.repeat(n),
            close.repeat(n)
        ));
    }
    for (open, close) in [
        ("{", "}"),
        ("if(1)", ";"),
        ("while(0)", ";"),
        ("for(;;)", ";"),
        ("do ", " while(0)"),
    ] {
        attack_deep(&format!(
            "cat > p <<'E'\nBEGIN{{{}{}}}\nE\nawk -f p",
            open.repeat(n),
            close.repeat(n)
        ));
    }
}

#[test]
fn a18_endless_sed_stops_with_an_error() {
    attack("echo before; sed ':a;ba' <<< x")
        .stops_at_any(ENDLESS)
        .prints("before\n");
    attack("sed ':a;s/a/aa/;ta' <<< a").stops_at_any(GROWING);
    attack("sed ':a;s/$/a/;H;ba' <<< a").stops_at_any(GROWING);
    attack("sed ':a;H;G;ba' <<< a").stops_at_any(GROWING);
    attack("sed ':a;G;h;ba' <<< a").stops_at_any(GROWING);
    attack("sed -n ':a;N;ba' < <(yes)").stops_at_any(GROWING);
    attack_within(tight(), "sed 's/x*/y/g;:a;s/y/yy/g;ta' <<< a").stops_at_any(GROWING);
    attack("sed D <<< a; sed 'G;D' <<< a").stops_at_any(&[
        Limit::Loops,
        Limit::Memory,
        Limit::Time,
    ]);
    attack("sed -z 's/a/b/' /dev/zero").stops_at_any(&[
        Limit::Memory,
        Limit::Loops,
        Limit::Time,
        Limit::Output,
    ]);
    attack("sed ':a;s/a/b/e;ba' <<< a").stops_at_any(&[Limit::Loops, Limit::Time, Limit::Commands]);
    attack("sed ':a;e :\nba' <<< a").stops_at_any(&[Limit::Loops, Limit::Time, Limit::Commands]);
}

#[test]
fn a19_sed_reading_a_file_for_each_line_stops_at_the_output_limit() {
    attack("seq 2000 > f; sed 'r f' f").stops_at(Limit::Output);
    attack("seq 2500 > f; sed 'r f' f > g; ls -l g | wc -l").stops_at(Limit::Memory);
    attack("sed 'r /dev/zero' <<< x").stops_at_any(&[Limit::Output, Limit::Memory]);
    attack("seq 9 > f; sed 'w f' f; sed -i 'r f' f; sed -n 'w /dev/stdout' f").exits(0);
    let n = 20_000;
    attack_deep(&format!(
        "cat > p <<'E'\n{}p{}\nE\nsed -f p <<< x",
        "{".repeat(n),
        "}".repeat(n)
    ));
    attack_deep(&format!(
        "cat > p <<'E'\n{}p\nE\nsed -f p <<< x",
        "1!".repeat(n)
    ));
    for program in [
        "s/a",
        "s",
        "y/a/bc/",
        "b x",
        ":",
        "}",
        "{",
        "a",
        "s/(/x/",
        "s/\\(/x/",
        "s/a/\\1/",
        "1,",
        "1~",
        "/a",
        "\\",
        "s/a/b/gg",
        "s/a/b/w",
        "r",
        "w",
        "q x",
        "l x",
        "y/\\/",
        "s//x/",
        "0p",
        "0,5p",
        "$!N;D;x;G",
        "e",
        "F",
        "z;i\\",
        "v 99999999999",
        "c\\",
        "=;W",
        "s/\\x5b/x/;s/\\c/x/;s/[[:foo:]]/x/",
        "s/\\n*\\{99999\\}/x/",
        "s/a\\{1,99999999999\\}/x/",
        "s/x/\\U\\L\\u&\\E/M0",
        "5,+99999999999999999999p",
        "2,~18446744073709551615p",
    ] {
        attack(&format!(
            "cat > p <<'E'\n{program}\nE\nseq 3 | sed -f p; seq 3 | sed -E -f p; seq 3 | sed -n -s -i -f p"
        ));
    }
}

#[test]
fn a20_endless_jq_stops() {
    attack("jq -n 'repeat(1)'").stops_at_any(&[Limit::Output, Limit::Loops]);
    attack("echo before; jq -n '[range(1e9)]'")
        .stops_at_any(GROWING)
        .prints("before\n");
    attack("jq -n '\"x\"|until(false;.+.)'").stops_at_any(GROWING);
    attack("jq -n '\"x\" * 1e9'").stops_at(Limit::Memory);
    attack("jq -n 'last(range(1e12))'").stops_at_any(ENDLESS);
    attack("jq -n '[limit(1e12; repeat(1))]'").stops_at_any(GROWING);
    attack("jq -n 'def f: f; f'").stops_at_any(&[Limit::Loops, Limit::Time, Limit::Depth]);
    attack("jq -n '[.[999999999]=1]|length'; echo $?");
    attack("jq -n '.[1e300]=1'; jq -n '.[-1]=1'; jq -n '[1]|.[1e300]'; echo $?");
    attack("jq -n '[range(100000)]|combinations' | head -c 10");
    attack("jq -n '[[range(100)]|.,.,.,.,.]|[combinations]|length'").stops_at_any(GROWING);
    attack("jq -n 'reduce range(100) as $i ([0]; .+.)|length'").stops_at_any(GROWING);
    attack("jq -n '\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"|test(\"^(a+)+$\")'")
        .exits(0)
        .prints("false\n");
    attack("jq -n '[range(1000)|tostring]|join(\",\")|[match(\"\";\"g\")]|length'");
    attack(
        "jq -n '\"\\u0000\"|ltrimstr(\"x\")|@json,@sh,@base64,@uri,@csv'; jq -n 'now|todate|length'; jq -n '1e1000,-1e1000,nan|floor?'",
    );
    attack(
        "jq -n 'input'; jq 'input' <<< 1; jq -n 'limit(-1;1)'; jq -n 'splits(\"(\")'; jq -n '\"x\"|ascii'; jq -n '[1]|implode' ; jq -n '[1114112,55296,-1]|implode'",
    );
    attack(
        "jq -n '9999999999999999999|strftime(\"%Y\")'; jq -n '\"x\"|strptime(\"%\")'; jq -n '[1e300,1,1,1,1,1,1,1]|mktime'; jq -n 'getpath([\"a\",1e300])'",
    );
}

#[test]
fn a20_jq_leaves_the_host_alone() {
    attack("jq -n 'halt'; echo $?; jq -n '\"x\"|halt_error'; echo $?")
        .exits(0)
        .begins("0\n5\n");
    attack("jq -n '\"secret\"|halt_error(3)'; echo $?; jq -n '{}|halt_error(1e300)'; echo after");
    attack("jq -n 'env|keys|join(\" \")'")
        .exits(0)
        .never_prints("CARGO");
    attack("jq -n '$ENV.PATH, $ENV.CARGO_MANIFEST_DIR, input_filename, $__loc__'")
        .never_prints("jp_bash");
    attack("jq -n 'input_line_number, ltrimstr(1), getpath([]), $__prog_args'");
    attack("jq -n 'include \"/etc/passwd\"; 1'; jq -n 'import \"/etc/hosts\" as $x; 1'; jq -L / -n '1'").never_prints("root:x");
}

#[test]
fn a20_jq_nests_as_deep_as_the_limit_allows() {
    let n = 20_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let value = format!("{}1{}", open.repeat(n), close.repeat(n));
        attack_deep(&format!(
            "cat > v <<'E'\n{value}\nE\njq . v; jq -c . v; jq -n --slurpfile x v '$x'; jq -s . v; jq --stream . v; jq -n --argjson x \"$(cat v)\" '$x'; jq -R 'fromjson' v"
        ));
        attack_deep(&format!("jq -n --argjson x '{value}' '$x'"));
    }
    for (open, close) in [
        ("[", "]"),
        ("(", ")"),
        ("-", ""),
        ("1+", ""),
        ("1|", ""),
        ("1,", ""),
        ("if 1 then ", " end"),
        ("try ", ""),
        ("def f: ", ";1"),
        ("\"\\(", ")\""),
        ("{a:", "}"),
        (".a as $x|", ""),
        ("reduce 1 as $x (1;", ")"),
        (".[", "]"),
        ("..|", ""),
        ("first(", ")"),
        ("1//", ""),
    ] {
        attack_deep(&format!(
            "cat > p <<'E'\n{}1{}\nE\njq -n -f p",
            open.repeat(n),
            close.repeat(n)
        ));
    }
    attack_deep("jq -n 'def f: 1+f; f'").stops_at_any(&[Limit::Depth, Limit::Loops, Limit::Memory]);
    attack_deep("jq -n 'def f: [f]; f'").stops_at_any(&[Limit::Depth, Limit::Loops, Limit::Memory]);
    attack_deep("jq -n 'reduce range(100000) as $i (0; [.])'");
    attack_deep("jq -n 'reduce range(100000) as $i (0; [.])|tojson|length'");
    attack_deep("jq -n '[range(0;100000)]|reduce .[] as $i (null; {a:.})|tostream'");
    attack_deep(
        "jq -n 'reduce range(20000) as $i (0; [.]) | . == ., (.|length), ([.,.]|sort|length), ([.,.]|unique|length), (flatten|length), ([paths]|length), (walk(.)|length), (. as $x|[$x]|inside([$x])), (tojson|fromjson|length), ([..]|length)' | wc -c",
    );
    attack_deep("jq -n 'def f(g): f(g|g); f(.)'");
    attack_deep("jq -n '[recurse(if . == null then 1 else .+1 end)]|length'").stops_at_any(GROWING);
}

#[test]
fn a21_regexes_that_backtrack_end() {
    let a = "a".repeat(40);
    let wide = Bounds {
        loops: 10_000_000,
        ..tight()
    };
    attack_within(wide, &format!("[[ {a}! =~ ^(a+)+$ ]]; echo $?"))
        .exits(0)
        .prints("1\n");
    attack_within(wide, &format!("grep -cE '^(a+)+$' <<< {a}!"))
        .exits(1)
        .prints("0\n");
    attack_within(wide, &format!("grep -cE '^(a|aa)+$' <<< {a}!"))
        .exits(1)
        .prints("0\n");
    for script in [
        format!("grep -P '(a+)+$b' <<< {a}; echo $?"),
        format!("grep -P '^(a+)+$' <<< {a}!; echo $?"),
        format!("grep -P '^(?=(a+)+$)(a|a)*$' <<< {a}!; echo $?"),
        format!("grep -E '(a*)*(a*)*(a*)*\\1\\2\\3b' <<< {a}; echo $?"),
        format!("grep -G '\\(a*\\)*\\1*\\1*\\1*\\1*b' <<< {a}; echo $?"),
        format!(
            "grep -G '\\(.*\\)\\(.*\\)\\(.*\\)\\(.*\\)\\(.*\\)\\(.*\\)\\1\\2\\3\\4\\5\\6x' <<< {a}; echo $?"
        ),
        format!("sed -E 's/(a*)*\\1b/x/' <<< {a}; echo $?"),
        format!("awk '/^(a+)+$/{{print}}' <<< {a}!; echo $?"),
        format!("jq -n '\"{a}!\"|test(\"^(a+)+$\"), test(\"(?=a)(a|a)*$\")'; echo $?"),
        format!("[[ {a} =~ (.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x ]]; echo $?"),
        format!("find . -regex '.*\\(a*\\)*\\1b'; expr {a} : '\\(a*\\)*\\1b'; echo $?"),
    ] {
        attack_within(wide, &script);
    }
    let line = "a".repeat(2_000);
    attack_within(
        wide,
        &format!(
            "cat > f <<'E'\n{line}\nE\ngrep -cE 'a.*a.*a.*b' f; grep -oE 'a*b|a' f | wc -l; sed -E 's/a*b|a/x/g' f | wc -c"
        ),
    );
}

#[test]
fn a22_regexes_too_large_to_build_are_refused() {
    for regex in [
        "((a{1,1000}){1,1000}){1,1000}",
        "[[:alpha:]]{32767}",
        "(\\w{1000}){1000}",
        "a{99999999999999999999}",
        "a{,99999}",
    ] {
        for script in [
            format!("grep -E '{regex}' <<< a"),
            format!("[[ a =~ {regex} ]]"),
            format!("sed -E 's/{regex}/x/' <<< a"),
            format!("awk '/{regex}/' <<< a"),
            format!("grep -P '{regex}' <<< a"),
            format!("jq -n '\"a\"|test(\"{}\")'", regex.replace('\\', "\\\\")),
        ] {
            attack(&script);
        }
    }
    let n = 300;
    for (open, close) in [
        ("(", ")"),
        ("(a|", ")"),
        ("[", "]"),
        ("(?:", ")"),
        ("(?=", ")"),
        ("a*", ""),
        ("a|", ""),
        ("\\(", "\\)"),
        ("(?<a>", ")"),
        ("x{2}", ""),
        ("[[:alpha:]", "]"),
        ("^*", "$"),
    ] {
        let regex = format!("{}a{}", open.repeat(n), close.repeat(n));
        attack_deep(&format!(
            "cat > r <<'E'\n{regex}\nE\ngrep -E -f r <<< a; grep -G -f r <<< a; grep -P -f r <<< a; [[ a =~ $(<r) ]]; awk -v r=\"$(<r)\" 'BEGIN{{print \"a\" ~ r}}'; jq -n --rawfile r r '\"a\"|test($r)'; sed -E \"s/$(<r)/x/\" <<< a"
        ));
    }
    let many: String = (0..300).map(|n| format!("word{n}\n")).collect();
    attack(&format!("cat > w <<'E'\n{many}E\ngrep -c -f w <<< word77; grep -cFf w <<< word77; grep -cEif w <<< WORD77; grep -cwxf w <<< word77")).exits(0);
    attack("for i in {1..200}; do [[ x =~ ^a{1,$i}$ ]]; done; echo end");
}
