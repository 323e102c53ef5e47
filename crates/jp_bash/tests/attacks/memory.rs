//! Real memory: each attack runs in a process of its own, whose peak is measured.

use std::process::Command;

use jp_bash::{Bash, Bounds};

use crate::support::{goes_on, short};

/// What a run may take beside its limit: the program itself, stacks, the output, slack of the allocator.
const SLACK: u64 = 64 << 20;

/// Names the file with the script, in the process that runs it.
const SCRIPT: &str = "JP_BASH_ATTACK_SCRIPT";

fn bounds() -> Bounds {
    Bounds {
        commands: 200_000,
        loops: 400_000,
        files: 1024,
        depth: 1000,
        output: 4 << 20,
        memory: 12 << 20,
        time: std::time::Duration::from_secs(3),
    }
}

/// Not a test of its own: runs one script when [`peak`] asks for it.
#[test]
fn runs_one_script_in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(SCRIPT) else {
        return;
    };
    let script = std::fs::read(&path).unwrap();
    let mut bash = Bash::builder().limits(bounds()).build();
    let result = bash.exec(&script);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib = line.split_whitespace().nth(1).unwrap();
    std::fs::write(
        &path,
        format!("{kib} {} {:?}", result.exit_code, result.error),
    )
    .unwrap();
    goes_on(&mut bash, &String::from_utf8_lossy(&script), &result);
}

/// Runs a script and returns the most memory that its process ever had, in bytes, and how it ended.
fn peak(script: &str) -> (u64, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), script).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "memory::runs_one_script_in_a_process_of_its_own",
            "--nocapture",
        ])
        .env(SCRIPT, file.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return (u64::MAX, short(&said));
    }
    let answer = std::fs::read_to_string(file.path()).unwrap();
    let (kib, rest) = answer.split_once(' ').unwrap();
    (kib.parse::<u64>().unwrap() << 10, rest.to_owned())
}

#[track_caller]
fn stays_small(scripts: &[&str]) {
    let mut large = Vec::new();
    for script in scripts {
        let (peak, how) = peak(script);
        let line = format!("{:>5} MiB  {how:<45} {}", peak >> 20, short(script));
        eprintln!("{line}");
        if peak >= bounds().memory + SLACK {
            large.push(line);
        }
    }
    assert!(large.is_empty(), "{large:#?}");
}

#[test]
fn variables_and_arrays_stay_within_the_memory_limit() {
    stays_small(&[
        "x=aaaaaaaa; while :; do x=$x$x; done",
        "x=aaaaaaaa; while :; do x+=$x; done",
        "while :; do a+=(xxxxxxxxxxxxxxxx); done",
        "while :; do a+=(x); done",
        "declare -A a; i=0; while :; do a[$((i++))]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "i=0; while :; do a[i+=1000000]=x; done",
        "i=0; while :; do declare v$((i++))=x; done",
        "i=0; while :; do eval \"v$((i++))=x\"; done",
        "echo {1..999999999}",
        "set -- x; while :; do set -- \"$@\" \"$@\"; done",
        "x=aaaaaaaaaa; while :; do x=${x//a/aaaaaaaaaa}; done",
        "x=$(head -c 3000000 /dev/zero | tr '\\0' ' '); x=${x// /a }; for i in $x; do :; done",
        "x=$(head -c 2000000 /dev/zero | tr '\\0' ' '); IFS=x; set -- ${x// / x}; echo $#",
        "x=$(head -c 1000000 /dev/zero | tr '\\0' a); y=${x//a/\\'}; echo ${#y} ${y@Q} > /dev/null",
        "x=$(head -c 2000000 /dev/zero | tr '\\0' a); for ((i=0;i<20;i++)); do eval \"y$i=\\$x\"; done",
        "x=$(head -c 2000000 /dev/zero | tr '\\0' a); f() { local y=$x$x; f; }; f",
        "f() { local a=({1..2000}); f; }; f",
    ]);
}

#[test]
fn regular_expressions_stay_within_the_memory_limit() {
    let patterns = [
        "x=$(head -c 1000000 /dev/zero | tr '\\0' 'a')",
        "x=$(yes 'a*' | head -c 1000000 | tr -d '\\n')",
        "x=$(yes '[[:alpha:]]' | head -c 800000 | tr -d '\\n')",
        "x='(((a{1,100}){1,100}){1,100}){1,100}'",
        "x='(\\w{1,40}){1,40}'",
    ];
    let uses = [
        "[[ aaa =~ $x ]]",
        "printf '%s\\n' \"$x\" > f; grep -E -f f <<< aaa; grep -f f <<< aaa; grep -P -f f <<< aaa",
        "printf 's/%s/b/\\n' \"$x\" > f; sed -E -f f <<< aaa",
        "export x; awk 'BEGIN { print match(\"aaa\", ENVIRON[\"x\"]) }'; awk '{ print NF }' FS=\"$x\" <<< aaa",
        "printf '%s' \"$x\" > f; jq -n --rawfile x f '\"aaa\" | test($x)'",
        "expr aaa : \"$x\"; find . -regex \"$x\"",
    ];
    let scripts: Vec<String> = patterns
        .iter()
        .flat_map(|pattern| uses.iter().map(move |used| format!("{pattern}; {used}")))
        .collect();
    stays_small(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
    stays_small(&[
        "i=0; while :; do [[ x =~ (\\w{1,20}$((i++))){1,5} ]]; done",
        "awk 'BEGIN { while (1) \"x\" ~ (\"(\\\\w{1,20}\" i++ \"){1,5}\") }'",
        "jq -n 'range(100000) as $i | \"x\" | test(\"(\\\\w{1,20}\\($i)){1,5}\")' > /dev/null",
        "for ((i=0;i<20000;i++)); do echo \"s/(\\\\w{1,20}$i){1,5}/x/\"; done > f; sed -E -f f <<< a",
        "head -c 3000000 /dev/zero | tr '\\0' a | sed -E 's/((a|b)*)*c|((a)|(b))*$/x/' | wc -c",
        "head -c 3000000 /dev/zero | tr '\\0' a | grep -cP '((a|b)*)*(?=c)'",
    ]);
}

#[test]
fn functions_aliases_and_the_like_stay_within_the_memory_limit() {
    stays_small(&[
        "b=$(for i in {1..300}; do echo 'echo a b c;'; done); i=0; while :; do eval \"f$((i++))() { $b }\"; done",
        "shopt -s expand_aliases; v=$(head -c 10000 /dev/zero | tr '\\0' a); i=0; while :; do alias a$((i++))=$v; done",
        "v=$(head -c 10000 /dev/zero | tr '\\0' a); i=0; while :; do trap \"echo $v\" $((i++ % 60 + 1)); done",
        "i=0; while :; do pushd / > /dev/null; done",
        "v=$(head -c 10000 /dev/zero | tr '\\0' a); i=0; while :; do complete -W \"$v\" c$((i++)); done",
        "v=$(head -c 200 /dev/zero | tr '\\0' a); i=0; while :; do hash -p /$v/$v h$((i++)); done",
        "v=$(head -c 100 /dev/zero | tr '\\0' a); i=0; while :; do enable -n e$((i++)) $v 2> /dev/null; done",
        "v=$(head -c 10000 /dev/zero | tr '\\0' a); set -o history; while :; do history -s \"$v\"; done",
        "i=0; while :; do [[ x =~ ^$((i++))a{1,200}$ ]]; done",
        "i=0; while :; do ((v$((i++ % 5000))++)); done",
        "while :; do : & done",
        "while :; do : & wait $!; done",
        "while :; do x=$(:); done",
        "i=0; while :; do x=$((i++)); y='i + '$i; : $((y)); done",
        "while :; do : <(:); done",
    ]);
}

#[test]
fn processes_and_pipes_stay_within_the_memory_limit() {
    stays_small(&[
        ":(){ :|:& };:; wait",
        "for i in {1..900}; do sleep 100 & done; wait",
        "for i in {1..400}; do yes | sleep 100 & done; wait",
        "x=$(head -c 3000000 /dev/zero | tr '\\0' a); for i in {1..300}; do sleep 100 & x=${x}b; done; wait",
        "for i in {1..20000}; do declare v$i=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done; for i in {1..900}; do sleep 100 & done; wait",
        "for i in {1..300}; do (x=$(head -c 1000000 /dev/zero | tr '\\0' a); sleep 100) & done; wait",
        "f() { if (($1)); then f $(($1-1)); else sleep 1; fi; }; for i in {1..100}; do f 100 & done; wait",
        "f() { f; }; f",
        "f() { echo $(f); }; f",
        "f() { cat <(f); }; f",
        "a=({1..100000}); for i in {1..100}; do sleep 100 & a[0]=$i; done; wait",
        "cat <<< $(head -c 10000000 /dev/zero | tr '\\0' a) > /dev/null; f() { f <<< $x$x; }; x=$(head -c 1000000 /dev/zero | tr '\\0' a); f",
        "x=$(head -c 100000 /dev/zero | tr '\\0' a); for i in {1..900}; do exec {fd}<<< $x$x; done",
    ]);
}

#[test]
fn syntax_stays_within_the_memory_limit() {
    let long = |text: &str| text.repeat((1 << 20) / text.len());
    stays_small(&[
        &long("a;"),
        &long("a&"),
        &long("a|"),
        &long("x=1;"),
        &long("$a"),
        &long("\"$a\" "),
        &long("${a:-b}"),
        &long("a "),
        &long("\"a\"'b'"),
        &long("{a,b}"),
        &long("a\n"),
        &long("<a "),
        &long("f(){ :;};"),
        &long("$((a+1))"),
        &long("$(a)"),
        &long("[[ a ]];"),
        &format!("(({}1))", long("1+")),
        &format!("a=({})", long("[a]=b ")),
        &format!("case x in {} esac", long("a) ;;")),
        &format!("if :; then :; {} fi", long("elif a; then b; ")),
        &format!("eval '{}'", long("a;")),
        &format!("x='{}'; echo $((x))", long("1+")),
        &format!("cat <<E\n{}\nE", long("$a")),
        &format!("echo \"{}\"", long("$a")),
        &format!("[[ {} a ]]", long("a && ")),
        &long("v$x=1;"),
        &(0..200_000).map(|n| format!("v{n}=;")).collect::<String>(),
        "while :; do eval \"$(for i in {1..2000}; do echo \"v$RANDOM$RANDOM=1;\"; done)\"; done",
    ]);
}

#[test]
fn files_and_globs_stay_within_the_memory_limit() {
    stays_small(&[
        "cat /dev/zero > f",
        "i=0; while :; do : > f$((i++)); done",
        "i=0; while :; do mkdir d$((i++)); done",
        "i=0; while :; do ln -s x d$((i++)); done",
        "i=0; : > f; while :; do ln f d$((i++)); done",
        "while mkdir d && cd d; do :; done",
        "mkdir {1..300}; echo */../*/../*",
        "mkdir {1..300}; for x in */../*/../*; do :; done",
        "mkdir {1..300}; a=(*/../*/../*)",
        "for i in {1..8000}; do : > f$i; done; ls; ls -l; find .; echo *; cp -r . ../x; rm -r *; ls -R /",
        "cat /dev/zero | tee f g h > /dev/null",
        "exec 3<> f; while :; do cat f f >&3; echo x >&3; done",
        "shopt -s globstar; mkdir -p a/{1..20}/{1..20}/{1..5}; for i in 1 2 3; do echo **/**/** > /dev/null; done",
    ]);
}

#[test]
fn commands_stay_within_the_memory_limit() {
    stays_small(&[
        "sort /dev/zero",
        "yes | sort",
        "yes | tail -n 999999999",
        "yes | head -n -999999999",
        "tr '\\0' a < /dev/zero | sed p",
        "tr '\\0' a < /dev/zero | awk 1",
        "tr '\\0' a < /dev/zero | grep b",
        "tr '\\0' a < /dev/zero | cut -c 1",
        "tr '\\0' a < /dev/zero | uniq",
        "tr '\\0' a < /dev/zero | jq -R .",
        "tr '\\0' 1 < /dev/zero | jq .",
        "tr '\\0' '[' < /dev/zero | jq .",
        "yes '[1,2,3]' | jq -s .",
        "tr '\\0' a < /dev/zero | xargs",
        "yes | xargs -n 9999999",
        "tr '\\0' a < /dev/zero | wc",
        "tr '\\0' a < /dev/zero | while read x; do :; done",
        "yes | mapfile a",
        "mapfile a < <(yes)",
        "sed -n ':a;N;ba' < <(yes)",
        "sed 'H;$!d' < <(yes)",
        "awk '{a[NR]=$0}' < <(yes xxxxxxxxxxxxxxxxxxxxxxxxx)",
        "awk 'BEGIN{while(1) a[i++]}'",
        "awk 'BEGIN{s=\"a\"; while(1) s=s s}'",
        "awk 'BEGIN{$50000000=1}'",
        "awk 'BEGIN{s=sprintf(\"%9000000s\",\"\"); n=split(s,a,\"\"); print n}'",
        "awk 'BEGIN{while(1) print \"x\" > (\"f\" i++)}'",
        "jq -n '[range(1e9)]'",
        "jq -n 'reduce range(1e9) as $i ({}; .[$i|tostring]=1)'",
        "jq -n '\"x\" * 30000000 | explode | length'",
        "jq -n '[range(300000)]|map({a:.})|tojson|fromjson|length'",
        "jq -n 'def f: 1+f; f'",
        "jq -n 'def f: [f]; f'",
        "jq -n '[limit(1e9;repeat(\"x\"))]'",
        "jq -n '\"x,\" * 3000000 | split(\",\") | length'",
        "jq -n '\"x\" * 3000000 | [match(\"x\";\"g\")] | length'",
        "grep -E '((a{1,1000}){1,1000}){1,1000}' <<< a",
        "grep -E \"$(seq -s '|' 1 100000)\" <<< a",
        "grep -f <(seq 1 300000) <<< a",
        "grep -Ff <(seq 1 1000000) <<< a",
        "for i in {1..100}; do grep -E \"(a{1,$i}b{1,$i}){1,100}\" <<< a; done",
        "seq -f \"%900000g\" 1 100",
        "find / -printf '%9000000p'",
        "date +%99999999Y",
        "printf %99999999d 1 > /dev/null",
        "curl -d @/dev/zero http://x",
        "env -i $(seq 1 100000 | sed 's/.*/v&=1/') true",
        "bash -c \"$(seq 1 100000)\"",
    ]);
}
