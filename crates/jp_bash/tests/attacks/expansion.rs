//! Expansions that explode: braces, patterns, arithmetic, arrays, here-documents, names.

use jp_bash::{Bounds, Limit};

use crate::support::{attack, attack_deep, attack_within, text, tight};

#[test]
fn a06_a_brace_range_too_large_stops_and_is_never_cut() {
    attack("echo before; echo {1..999999999}")
        .stops_at_any(&[Limit::Memory, Limit::Loops])
        .prints("before\n");
    attack("echo {1..9223372036854775807}").stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("echo {-9223372036854775808..9223372036854775807}")
        .stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("echo {1..100}{1..100}{1..100}{1..100}").stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("echo {0000000001..999999999}").stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack(&format!("echo {}", "{a,b}".repeat(40))).stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack(&format!("echo {{{}1..3}}", "0".repeat(100_000)));
    attack("echo {1..99999999999999999999}").exits(0);
    attack(
        "echo {a..z..0} {1..5..-9223372036854775808} {9223372036854775807..9223372036854775806}",
    )
    .exits(0);
    attack("n=0; for i in {1..10001}; do ((n++)); done; echo $n; a=({1..10001}); echo ${#a[@]}")
        .exits(0)
        .prints("10001\n10001\n");
}

#[test]
fn a07_doubling_a_string_stops_at_the_memory_limit() {
    attack("echo before; x=aaaaaaaa; for i in {1..40}; do x=$x$x; done; echo after")
        .stops_at(Limit::Memory)
        .prints("before\n");
    attack("x=aaaaaaaa; for i in {1..40}; do x+=$x; done").stops_at(Limit::Memory);
    attack("a=(x); for i in {1..40}; do a+=(\"${a[@]}\"); done")
        .stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("set -- x; for i in {1..40}; do set -- \"$@\" \"$@\"; done")
        .stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("f(){ f \"$@\" \"$@\"; }; f x").stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack("x=a; while :; do x=$(echo $x$x); done").stops_at(Limit::Memory);
    attack("echo a > f; while :; do cat f f > g; mv g f; done").stops_at(Limit::Memory);
    attack("x=a; for i in {1..40}; do printf -v x %s%s $x $x; done").stops_at(Limit::Memory);
    attack("x=a; for i in {1..40}; do read -r x <<< $x$x; done").stops_at(Limit::Memory);
    attack("trap : EXIT; x=a; for i in {1..40}; do trap \": $x\" EXIT; x=$x$x; done")
        .stops_at(Limit::Memory);
}

#[test]
fn a08_a_replacement_that_grows_stops_at_the_memory_limit() {
    attack("x=aaaaaaaaaa; for i in {1..12}; do x=${x//a/aaaaaaaaaa}; done").stops_at(Limit::Memory);
    attack("x=aaaaaaaaaa; shopt -s patsub_replacement; for i in {1..40}; do x=${x//a/&&&}; done")
        .stops_at(Limit::Memory);
    attack("x=a; for i in {1..40}; do x=${x@Q}${x@Q}; done").stops_at(Limit::Memory);
    attack("x=a; for i in {1..40}; do x=${x^^}${x,,}; done").stops_at(Limit::Memory);
    attack("x=a; while :; do x=${x:0:9}${x}${x}; done").stops_at(Limit::Memory);
}

#[test]
fn a09_a_huge_width_stops_or_fails_and_never_pads_less() {
    for script in [
        "printf %999999999d 1",
        "printf %.999999999f 1",
        "printf %999999999s x",
        "printf %-999999999s x",
        "printf '%*d' 999999999 1",
        "printf '%.*f' 999999999 1",
        "printf %0999999999d 1",
        "printf %.999999999d 1",
        "printf %999999999q x",
        "printf %999999999b x",
        "printf '%999999999(%Y)T' 0",
        "printf -v x %999999999d 1",
        "printf %999999999d 1 | wc -c",
        "/usr/bin/printf %999999999d 1",
    ] {
        attack(script).stops_at_any(&[Limit::Memory, Limit::Output]);
    }
    for script in [
        "printf %99999999999999999999d 1",
        "printf '%*d' 99999999999999999999 1",
        "printf %.99999999999999999999f 1",
        "printf '%*d' -9223372036854775808 1",
        "printf %d 99999999999999999999999",
        "printf %s",
        "printf '%",
        "printf '\\x' '\\u' '\\777'",
    ] {
        attack(script);
    }
}

#[test]
fn a23_patterns_that_backtrack_end() {
    let long = "a".repeat(60);
    let bounds = Bounds {
        loops: 10_000_000,
        ..tight()
    };
    for pattern in [
        "+(+(a))b",
        "*(*(a))b",
        "+(a|aa|aaa)b",
        "!(a)!(a)!(a)!(a)b",
        "+(!(b))b",
        "*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)b",
        "@(+(a)|+(+(a)))+(+(a))b",
    ] {
        for script in [
            format!("shopt -s extglob\n[[ {long} == {pattern} ]]; echo $?"),
            format!("shopt -s extglob\ncase {long} in {pattern}) echo 0;; *) echo 1;; esac"),
        ] {
            attack_within(bounds, &script).exits(0).prints("1\n");
        }
        attack_within(
            bounds,
            &format!("shopt -s extglob\nx={long}; x=${{x//{pattern}/y}}; echo ${{#x}}"),
        );
        attack_within(
            bounds,
            &format!("shopt -s extglob\nx={long}; echo ${{x##{pattern}}} ${{x%%{pattern}}}"),
        );
        attack_within(
            bounds,
            &format!("shopt -s extglob\ntouch {long}; echo {pattern}"),
        );
    }
    let nested = format!("{}a{}", "+(".repeat(400), ")".repeat(400));
    attack_deep(&format!(
        "shopt -s extglob\n[[ {long} == {nested}b ]]; echo $?"
    ));
    attack(&format!(
        "x={}; [[ $x == {} ]]",
        "a".repeat(100_000),
        "*a".repeat(5_000)
    ));
    attack(&format!("[[ a == [{}] ]]", "a-z".repeat(100_000)));
}

#[test]
fn a24_arithmetic_that_names_itself_stops() {
    attack_deep("a=b;b=a;echo $((a))").says("expression recursion level exceeded");
    attack_deep("a=a+a;echo $((a))").says("expression recursion level exceeded");
    attack_deep("a='a[a]';echo $((a))");
    attack_deep("a='$(echo $((a)))'; echo $((a[$a]))");
    let parens = format!("echo $(({}1{}))", "(".repeat(3000), ")".repeat(3000));
    attack_deep(&parens);
    attack_deep(
        "a='b,b'; b='c,c'; c='d,d'; d='e,e'; e='f,f'; f='g,g'; g='h,h'; h='i,i'; i='j,j'; j='k,k'; k='l,l'; l='m,m'; m='n,n'; n='o,o'; o='p,p'; p='q,q'; q='r,r'; r='s,s'; s='t,t'; t=1; echo $((a))",
    );
}

#[test]
fn a25_arithmetic_at_the_edges_does_what_bash_does() {
    attack("echo $((1<<64)) $((1<<-1)) $((-9223372036854775808/-1)) $((-9223372036854775808%-1))")
        .exits(0)
        .prints("1 -9223372036854775808 -9223372036854775808 0\n");
    attack("x=9223372036854775807; echo $((x++)) $x $((--x)) $((-x)) $((9223372036854775807+1))")
        .exits(0)
        .prints("9223372036854775807 -9223372036854775808 9223372036854775807 -9223372036854775807 -9223372036854775808\n");
    attack("echo $((2**-1))")
        .exits(1)
        .says("exponent less than 0");
    attack("echo $((08))")
        .exits(1)
        .says("value too great for base");
    attack("echo $((64#@_)) $((2#1)) $((36#zZ))")
        .exits(0)
        .prints("4031 1 1295\n");
    attack("echo $((65#1))")
        .exits(1)
        .says("invalid arithmetic base");
    attack("echo $((1/0))").exits(1).says("division by 0");
    attack("echo $((x=1, x%=0))").exits(1).says("division by 0");
    attack("echo $((7**999999999999)) $((0x7fffffffffffffffffff)) $((99999999999999999999))")
        .exits(0);
    attack("x=-9223372036854775808; echo $((-x)) $((x-1)) $((x*x)) $((x>>63)) $((x<<63))").exits(0);
    attack("echo $((1 ? 2)) end").exits(1);
    attack("let 'x=9223372036854775807' x++; echo $x")
        .exits(0)
        .prints("-9223372036854775808\n");
}

#[test]
fn a26_indexes_at_the_edges_fail_as_in_bash() {
    attack("a[9223372036854775807]=x; a+=(y); echo ${#a[@]} ${!a[@]}");
    attack("a[-1]=x").exits(1).says("bad array subscript");
    attack("a=(); echo ${a[-1]}").says("bad array subscript");
    attack("a=([9223372036854775807]=x y); echo ${#a[@]}");
    attack("a[99999999999999999999]=x; echo ${!a[@]}");
    attack("a[4611686018427387904]=x; echo ${#a[@]} ${!a[@]}; echo ${a[@]:4611686018427387904:1}")
        .exits(0)
        .prints("1 4611686018427387904\nx\n");
    attack("a=([1000000000]=x [2000000000]=y); echo \"${a[@]: -1}\" ${#a[@]}; unset 'a[1000000000]'; echo ${!a[@]}")
        .exits(0)
        .prints("y 2\n2000000000\n");
    attack("x=abc; echo ${x:9223372036854775807:9223372036854775807}${x: -9223372036854775808}-")
        .exits(0)
        .prints("-\n");
    attack("mapfile -O 9223372036854775807 a <<< $'x\\ny'; echo ${!a[@]}");
    attack("set -- a b; shift 9223372036854775807; echo $# ${99999999999999999999}-");
    attack("a=(1 2 3); echo ${a[@]: -9223372036854775808} ${a[@]:1:-1}");
}

#[test]
fn a26_colliding_keys_of_an_associative_array_cost_no_more_than_work() {
    // All texts made of one word of each pair have the same hash.
    let pairs = collisions(10);
    let (one, two): (Vec<&str>, Vec<&str>) =
        pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).unzip();
    let script = format!(
        "declare -A a; k=({}) l=({}); p=('')\nfor n in {{0..9}}; do q=(); for x in \"${{p[@]}}\"; do q+=(\"$x${{k[n]}}\" \"$x${{l[n]}}\"); done; p=(\"${{q[@]}}\"); done\nfor x in \"${{p[@]}}\"; do a[$x]=1; done; echo ${{#a[@]}}",
        one.join(" "),
        two.join(" ")
    );
    attack(&script).exits(0).prints("1024\n");
}

/// Finds pairs of words after which bash's hash (FNV-1, 32 bits) stands at the same value.
fn collisions(count: usize) -> Vec<(String, String)> {
    let mut state = 2_166_136_261_u32;
    let mut pairs = Vec::new();
    for _ in 0..count {
        let mut seen = std::collections::HashMap::new();
        let pair = (0..).find_map(|n: u32| {
            let word = format!("{:x}", n.wrapping_mul(2_654_435_761) | 1 << 31);
            let hash = word.bytes().fold(state, |hash, byte| {
                hash.wrapping_mul(16_777_619) ^ u32::from(byte)
            });
            let other = seen
                .insert(hash, word.clone())
                .filter(|other| *other != word)?;
            Some((hash, other, word))
        });
        let (hash, one, two) = pair.unwrap();
        state = hash;
        pairs.push((one, two));
    }
    pairs
}

#[test]
fn a32_three_thousand_here_documents_on_one_line_all_arrive() {
    let heads = "cat <<E;".repeat(3000);
    let bodies = "x\nE\n".repeat(3000);
    let outcome = attack(&format!("{heads}\n{bodies}")).exits(0);
    assert_eq!(outcome.result.stdout.len(), 6000);
    let nested = format!("cat {}\n{}", "<<E ".repeat(3000), bodies);
    attack(&nested);
}

#[test]
fn a32_a_here_document_ends_at_its_own_delimiter_alone() {
    attack("cat <<E\n$(echo E)\n`echo E`\nE \n E\nE")
        .exits(0)
        .prints("E\nE\nE \n E\n");
    attack("x=$'a\\nE\\necho injected\\n'; cat <<E\n$x\nE")
        .exits(0)
        .prints("a\nE\necho injected\n\n");
    attack("cat <<''\na\n\necho end")
        .exits(0)
        .prints("a\nend\n");
    attack("cat <<E").exits(0).says("here-document");
    attack(&format!("cat <<{0}\nx\n{0}\n", "E".repeat(100_000)))
        .exits(0)
        .prints("x\n");
}

#[test]
fn a32_odd_bytes_in_names_are_bytes() {
    let odd = "a\u{202e}b\u{200b}c\u{e0041}\u{feff}";
    attack(&format!("echo hi > '{odd}'; cat '{odd}'; ls | wc -l"))
        .exits(0)
        .prints("hi\n1\n");
    attack("f=$'a\\nb\\x01\\xff'; echo hi > \"$f\"; cat \"$f\"; for x in *; do [[ $x == \"$f\" ]] && echo same; done")
        .exits(0)
        .prints("hi\nsame\n");
    attack("echo a\0b; echo 'c\0d'").exits(0).prints("ab\ncd\n");
    attack("x=$'a\\0b'; echo \"$x\"; printf 'a\\0b' | wc -c")
        .exits(0)
        .prints("a\n3\n");
    attack("touch $'a\\0b'; ls").exits(0).prints("a\n");
}

#[test]
fn a34_globs_that_multiply_stop_at_a_limit() {
    attack(
        "cd /tmp; for i in {1..60}; do for j in 1 2 3; do mkdir -p $i/$j; done; done; echo /*/*/*/* | wc -c",
    );
    attack("cd /tmp; mkdir {1..200}; echo before; echo */../*/../*/../*")
        .stops_at_any(&[Limit::Memory, Limit::Loops])
        .begins("before\n");
    attack(
        "shopt -s globstar; mkdir -p a/b/c/d/e/f/g/h/i/j/k/l; cd a; echo **/**/**/**/**/**/**/**/**/**/**/** | wc -c",
    );
    attack(&format!("echo {}", "/*/..".repeat(30))).stops_at_any(&[Limit::Memory, Limit::Loops]);
    attack(&format!("echo {}", "/".repeat(100_000) + "*"));
    attack(&format!("echo {}", "[a".repeat(50_000)));
}

#[test]
fn a44_what_is_readonly_stays_so() {
    for script in [
        "readonly x=1; unset x; echo $x",
        "readonly x=1; declare x=2; echo $x",
        "readonly x=1; export x=2; echo $x",
        "readonly x=1; read x <<< 2; echo $x",
        "readonly x=1; printf -v x 2; echo $x",
        "readonly -a x=(1); mapfile x <<< 2; echo $x",
        "readonly x=1; declare +r x; x=2\necho $x",
        "readonly x=1; f(){ local x=2; }; f; echo $x",
        "readonly x=1; for x in 2; do :; done\necho $x",
        "readonly x=1; : $((x=2))\necho $x",
        "readonly x=1; : ${x:=2}; echo $x",
        "readonly x=1; declare -n y=x; y=2\necho $x",
        "readonly x=1; getopts a x -a; echo $x",
        "readonly x=1; x=2 true\necho $x",
        "readonly x=1; (x=2)\necho $x",
        "readonly x=1; coproc x { :; }\necho $x",
        "readonly x=1; exec {x}>f; echo $x",
        "readonly x=1; wait -p x; echo $x",
    ] {
        let outcome = attack(script);
        assert!(text(&outcome.result.stdout).ends_with("1\n"), "{outcome}");
    }
    attack("UID=0\necho $((UID==0))").prints("0\n");
    attack("(unset PATH IFS HOME PWD; echo ok; ls / > /dev/null; echo $?)");
    attack("(PATH=(a b); IFS=(); OPTIND=x; RANDOM=x; SECONDS=x; LINENO=x; HISTCMD=x; BASH_ARGV0=x; echo ok)").prints("ok\n");
    attack(
        "(declare -A IFS=([a]=b); x='a b'; echo $x; declare -A PATH; nothing; declare -a OPTIND; getopts a y -a; echo ok)",
    );
    attack("BASHOPTS=x; SHELLOPTS=x; EUID=x; PPID=x; echo ok");
    attack(
        "(declare -i OPTIND; declare -u LC_ALL; declare -n IFS=x; declare -n PATH=y; echo ok; ls)",
    );
    attack("FUNCNAME=x; BASH_SOURCE=(x); GROUPS=x; DIRSTACK=(x); PIPESTATUS=(a b c); BASH_REMATCH=x; echo ok").prints("ok\n");
    attack(
        "(unset FUNCNAME BASH_SOURCE BASH_LINENO GROUPS DIRSTACK PIPESTATUS BASH_REMATCH RANDOM SECONDS _; f(){ echo ok; }; f | cat; [[ a =~ a ]]; pushd / ; true | true; echo $_)",
    );
}

#[test]
fn a45_text_beyond_ascii_is_cut_at_characters() {
    attack("x=héé; echo ${x:1:1} ${#x} ${x: -1} ${x%?} ${x/é/e} ${x^^}")
        .exits(0)
        .prints("é 3 é hé heé HÉÉ\n");
    attack("declare -A a=([é]=ab); echo ${#a[é]} ${!a[@]}")
        .exits(0)
        .prints("2 é\n");
    attack("printf '%3s|%-3s|\\n' é é; printf %.1s é | wc -c")
        .exits(0)
        .prints(" é|é |\n1\n");
    attack(
        "echo héé | cut -c2; echo é,é | cut -d é -f 2; echo é | tr é e; echo é | tr -d '\\303' | wc -c",
    );
    attack("printf 'é x\\na y\\n' | sort -k1.1,1.1; echo é | sed 'y/é/e/;s/e/é/'").exits(0);
    attack("echo é | awk '{print substr($0,1,1), length($0), index($0,\"é\"), toupper($0)}'")
        .exits(0);
    attack("date -d '2024-01-01é'; date +é%Yé -d @0; date -d é");
    for bad in [
        "\\xff",
        "\\xc3",
        "\\xe2\\x82",
        "\\xf0\\x9f\\x92",
        "\\xed\\xa0\\x80",
    ] {
        attack(&format!(
            "x=$'a{bad}b{bad}'; echo ${{x:1:1}} ${{#x}} ${{x%?}} ${{x//?/y}} ${{x^^}} ${{x@Q}}; printf '%q %.2s %5s\\n' \"$x\" \"$x\" \"$x\"; \
             echo \"$x\" | cut -c1-2; echo \"$x\" | tr b c; echo \"$x\" | sed 's/./z/g;y/a/b/'; echo \"$x\" | awk '{{print substr($0,2,1) length($0)}}'; \
             echo \"$x\" | grep -o .; echo \"$x\" | sort -k1.2; echo \"$x\" | wc -mL; echo \"$x\" | jq -R .; [[ $x == a?b* ]]; [[ $x =~ a.b ]]; \
             touch \"$x\"; ls; ls -l; find . -name \"$x\" -printf '%f %p\\n'; stat \"$x\"; basename \"$x\" b; expr substr \"$x\" 1 1; read -n 2 y <<< \"$x\"; \
             IFS=$'{bad}' read p q <<< \"$x\"; select s in \"$x\"; do break; done <<< 1; date -d \"$x\"; uniq -w 1 <<< \"$x\"; head -c 1 <<< \"$x\""
        ));
    }
}
