//! Nothing aborts: each attack runs in a process that cannot get more address space than its limit and a little more.
//!
//! What a run holds is refused before it is allocated. Where that was forgotten, the allocator has nothing to give
//! here and the process aborts.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jp_bash::{Bash, Bounds};

use crate::support::short;

/// What a process may take beside the memory limit of the run: the program, its stacks, copies under way.
const BESIDE: u64 = 192 << 20;

/// Names the file with the script, in the process that runs it.
const SCRIPT: &str = "JP_BASH_SPACE_SCRIPT";

/// The clock of these runs moves by a millisecond whenever it is looked at, so that a run gets the same work done on
/// a slow machine as on a fast one. Work that never looks is ended by the processor time below.
const LOOKS: u64 = 3_000;

/// Seconds of processor time after which a process that does not look at its clock is killed.
const PROCESSOR: u64 = 60;

fn bounds() -> Bounds {
    Bounds {
        time: Duration::from_millis(LOOKS),
        ..Bounds::default()
    }
}

/// Not a test of its own: runs one script when [`survives`] asks for it.
#[test]
fn runs_one_script_in_little_address_space() {
    let Some(path) = std::env::var_os(SCRIPT) else {
        return;
    };
    let script = std::fs::read(&path).unwrap();
    let looks = AtomicU64::new(0);
    let clock = move || Duration::from_millis(looks.fetch_add(1, Ordering::Relaxed));
    let mut bash = Bash::builder()
        .limits(bounds())
        .clock(
            Arc::new(clock),
            Arc::new(|| (1_700_000_000, 0)),
            Arc::new(|_| std::thread::yield_now()),
        )
        .build();
    let result = bash.exec(&script);
    let answer = format!("{} {:?}", result.exit_code, result.error);
    std::fs::write(&path, answer).unwrap();
}

/// Returns how the run ended, or what the process said when it died.
fn run(script: &str, space: u64) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), script).unwrap();
    // The allocator of the C library reserves 64 MiB of address space for each thread unless it is told not to.
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -v $1; ulimit -t $2; shift 2; exec \"$@\"",
            "sh",
        ])
        .args([(space >> 10).to_string(), PROCESSOR.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "address_space::runs_one_script_in_little_address_space",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("MALLOC_ARENA_MAX", "1")
        .env(SCRIPT, file.path())
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(std::fs::read_to_string(file.path()).unwrap());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, short(&said)))
}

#[track_caller]
fn survive(scripts: &[&str]) {
    let space = bounds().memory + BESIDE;
    let mut dead = Vec::new();
    for script in scripts {
        match run(script, space) {
            Ok(how) => eprintln!("{how:<45} {}", short(script)),
            Err(why) => dead.push(format!("{}: {why}", short(script))),
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

/// A process that does get too much does die: the test would see it.
#[test]
fn a_process_without_room_for_its_limit_dies() {
    let script = "x=$(head -c 60000000 /dev/zero | tr '\\0' a); echo ${#x}";
    assert!(run(script, bounds().memory + BESIDE).is_ok());
    assert!(run(script, 96 << 20).is_err());
}

/// Patterns of 20 MB for every engine that compiles them.
const REGEX_ATTACKS: &[&str] = &[
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); jq -n --arg x \"$x\" '\"a\" | test($x)'",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); jq -n --arg x \"$x\" '$x | [match($x; \"g\")] | length'",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); [[ $x =~ $x ]]",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); [[ $x =~ ($x)+ ]]",
    "head -c 20000000 /dev/zero | tr '\\0' a > f; grep -E \"$(cat f)\" f",
    "head -c 20000000 /dev/zero | tr '\\0' a > f; grep -f f f",
    "head -c 20000000 /dev/zero | tr '\\0' a > f; grep -Ff f f",
    "head -c 20000000 /dev/zero | tr '\\0' a > f; grep -P \"$(cat f)\" f",
    "yes a | head -c 20000000 > f; grep -f f f",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); sed -E \"s/$x/b/\" <<< a",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' '('); sed -E \"s/$x/b/\" <<< a",
    "x=$(head -c 20000000 /dev/zero | tr '\\0' a); awk \"/$x/\" <<< a",
    "head -c 20000000 /dev/zero | tr '\\0' a | awk -Fa '{print NF}'",
    "head -c 20000000 /dev/zero | tr '\\0' a | awk '{print gsub(/a/, \"bbbbbbbbbb\")}'",
    "head -c 20000000 /dev/zero | tr '\\0' a | awk '{print split($0, x, /a/)}'",
    "head -c 20000000 /dev/zero | tr '\\0' a | awk '{print split($0, x, \"\")}'",
    "head -c 20000000 /dev/zero | tr '\\0' a | sed 's/a/bbbbbbbbbbbbbbbbbbbb/g' | wc -c",
    "expr \"$(head -c 20000000 /dev/zero | tr '\\0' a)\" : \"$(head -c 20000000 /dev/zero | tr '\\0' a)\"",
];

#[test]
fn no_pattern_of_20_mb_aborts_the_process() {
    survive(REGEX_ATTACKS);
}

#[test]
fn no_text_command_aborts_the_process() {
    survive(&[
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; sort f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; sort -k2 -n f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; diff f /dev/null | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; tac f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; shuf f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\n' > f; column f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' ' ' > f; column -t -s ' ' f | wc -c",
        "yes a | head -c 40000000 > f; tsort f | wc -l",
        "head -c 40000000 /dev/zero | tr '\\0' '\\t' | expand -t 1000000 | head -c 1000 | wc -c",
        "head -c 40000000 /dev/zero | tr '\\0' ' ' | join - /dev/null -a 1 | wc -c",
        "yes 'a ' | head -c 40000000 | tr -d '\\n' | join - /dev/null -a 1 | wc -c",
        "head -c 60000000 /dev/zero | tr '\\0' a > f; comm f f | wc -c",
        "head -c 40000000 /dev/zero | tr '\\0' a > f; rev f | wc -c; LC_ALL=C rev f | wc -c",
        "yes é | head -c 40000000 | tr -d '\\n' | rev | wc -c",
        "head -c 10000000 /dev/zero | tr '\\0' a | cut -d a -f 1- --output-delimiter=bbbbbbbbbbbbbbbbbbbb | wc -c",
        "yes 1 | head -c 4000000 | tr '\\n' ' ' | numfmt --field=- --padding=60000 | head -c 100 | wc -c",
        "head -c 60000000 /dev/zero | tr '\\0' a > f; cmp f f; base64 f | base64 -d | wc -c",
        "head -c 60000000 /dev/zero | tr '\\0' a | xxd -p -c 0 | xxd -r -p | wc -c",
        "head -c 60000000 /dev/zero | tr '\\0' a > f; split -n l/3 f; split -n r/3 f",
        "split -a 99999999999 /dev/null; seq 3 | split -l 1 -a 999999999",
        "yes | uniq -D | head -c 100000000 | wc -c; head -c 60000000 /dev/zero | uniq -c | wc -c",
        "shuf -i 1-99999999999 -n 3; shuf -i 1-99999999 | wc -l",
        "head -c 60000000 /dev/zero | tr '\\0' a | xargs -n 1 true",
        "dd if=/dev/zero of=/dev/null bs=2G count=1; dd if=/dev/zero bs=100M count=3 of=f",
    ]);
}

#[test]
fn no_inner_language_aborts_the_process() {
    survive(&[
        "yes a | head -c 60000000 | tr '\\n' ' ' | awk '{print NF}'",
        "yes a | head -c 60000000 | tr '\\n' ' ' | awk '{$2 = 1; print NF}'",
        "head -c 60000000 /dev/zero | tr '\\0' a | awk -v FS= '{print NF}'",
        "head -c 60000000 /dev/zero | tr '\\0' a | awk '{print toupper($0) $0}' | wc -c",
        "awk 'BEGIN {x = sprintf(\"%90000000s\", \"\"); $0 = x; $3 = x; print length($0)}'",
        "awk 'BEGIN {while (1) {x = x x \"aaaaaaaaaaaaaaaa\"; y[n++] = x}}'",
        "awk 'BEGIN {for (i = 0; i < 9000000; i++) a[i] = i; asort(a); print 1}'",
        "yes '1,' | head -c 40000000 | tr -d '\\n' | sed 's/^/[/;s/$/1]/' | jq -c 'sort | unique | length'",
        "yes '1,' | head -c 40000000 | tr -d '\\n' | sed 's/^/[/;s/$/1]/' | jq -c 'to_entries | length'",
        "jq -n '[range(9000000)] | map([.]) | add | length'",
        "jq -n '[range(3000000)] | [., .] | transpose | length'",
        "jq -n '\"x\" * 90000000 | explode | implode | length'",
        "jq -n '\"x\" * 90000000 | [., .] | join(\"\") | @base64 | length'",
        "jq -n '\"x\" * 90000000 | split(\"\") | length'",
        "jq -n '[limit(9000000; repeat(\"xy\"))] | group_by(.) | length'",
        "jq -Rs 'tojson | length' < <(head -c 90000000 /dev/zero)",
        "jq -n 'reduce range(90000000) as $i ([]; . + [$i])'",
    ]);
}

#[test]
fn no_expansion_aborts_the_process() {
    survive(&[
        "x=$(head -c 90000000 /dev/zero | tr '\\0' a); y=$x$x; echo ${#y}",
        "x=$(head -c 60000000 /dev/zero | tr '\\0' a); y=${x//a/bb}; echo ${#y}",
        "x=$(head -c 60000000 /dev/zero | tr '\\0' a); y=${x^^}; echo ${#y}",
        "x=$(head -c 60000000 /dev/zero | tr '\\0' \"'\"); y=${x@Q}; printf -v z %q \"$x\"; echo ${#y} ${#z}",
        "x=$(yes é | head -c 60000000 | tr -d '\\n'); echo ${#x} ${x:5:1} ${x//é/a} | wc -c",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' '*'); [[ a == $x ]]; : $x; case a in $x) ;; esac",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' '?'); [[ a == $x ]]; : $x; echo ${x#$x}",
        "x=$(head -c 20000000 /dev/zero | tr '\\0' a); [[ $x == \"$x\" ]]; [[ $x == *b ]]; echo ${x%%*b}",
        "shopt -s extglob; x=$(yes '@(a)' | head -c 20000000 | tr -d '\\n'); [[ a == $x ]]",
        "x=$(head -c 60000000 /dev/zero | tr '\\0' ' '); set -- ${x// /a }; echo $#",
        "x=$(yes a | head -c 60000000); a=($x); echo ${#a[@]}; b=(\"${a[@]}\"); echo \"${b[*]}\" | wc -c",
        "x=$(yes a | head -c 60000000 | tr '\\n' ' '); read -ra a <<< \"$x\"; echo ${#a[@]}",
        "mapfile a < <(yes | head -c 60000000); echo ${#a[@]}",
        "head -c 90000000 /dev/zero | tr '\\0' a > f; x=$(<f); cat <<< \"$x\" | wc -c; read y < f; echo ${#y}",
        "printf -v x '%90000000s' ''; printf -v y '%s%s' \"$x\" \"$x\"; echo ${#y}",
        "printf '%.90000000f' 1 | wc -c; printf '%90000000d' 1 | wc -c",
        "echo {1..99999999} | wc -c; echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z} | wc -c",
        "x=$(yes 1+ | head -c 60000000 | tr -d '\\n')1; echo $((x))",
        "x=$(yes 'a;' | head -c 15000000); eval \"$x\"",
        "cat <<E > /dev/null\n$(head -c 90000000 /dev/zero | tr '\\0' a)$(head -c 90000000 /dev/zero | tr '\\0' a)\nE",
        "x=$(head -c 60000000 /dev/zero | tr '\\0' '('); echo $((x)); eval \"$x\"; bash -c \"$x\"",
        "x=$(head -c 30000000 /dev/zero | tr '\\0' a); export x; for i in 1 2 3 4 5 6 7 8 9; do env | wc -c & done; wait",
        "x=$(head -c 30000000 /dev/zero | tr '\\0' a); export x; printenv x x x x x x x x x x | wc -c; env -S '${x}${x}${x}${x}${x}${x}${x}${x}${x}'",
        "for i in {1..30000}; do : > f$i; done; for i in {1..99}; do a+=(*); done; echo ${#a[@]}",
    ]);
}
