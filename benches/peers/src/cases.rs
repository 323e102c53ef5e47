//! The scripts: each does `N` times the same thing, so that the slope between N and 2N is its cost.

/// What a case is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The shell's language: no slower than real bash.
    Language,
    /// Text processing: within twice the time of GNU's tools, mawk and jq.
    Text,
    /// Files and processes: no slower than real bash.
    Files,
}

/// What a script reads; made without any shell, not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    None,
    /// `data`: N lines of ten fields.
    Lines,
    /// `data`: N objects.
    Json,
    /// `d/0`, `d/1`, … with a line each.
    Files,
}

/// One script.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A loop, function, array, awk, sed, grep or file-creation case: five times as fast as bashkit; else no slower.
    pub(crate) five: bool,
    /// How often, at first; the second run does twice as much.
    pub(crate) n: u64,
    /// The same for bashkit, which is quadratic, capped or much slower in places.
    pub(crate) kit_n: u64,
    pub(crate) input: Input,
    /// The script; `$N` is how often.
    pub(crate) script: &'static str,
}

const fn lang(name: &'static str, n: u64, script: &'static str) -> Case {
    Case { name, kind: Kind::Language, five: true, n, kit_n: n, input: Input::None, script }
}

const fn text(name: &'static str, five: bool, n: u64, script: &'static str) -> Case {
    Case { name, kind: Kind::Text, five, n, kit_n: 50_000, input: Input::Lines, script }
}

const fn files(name: &'static str, n: u64, input: Input, script: &'static str) -> Case {
    Case { name, kind: Kind::Files, five: true, n, kit_n: n, input, script }
}

impl Case {
    /// No loop, function, array, awk, sed, grep or file-creation case.
    const fn other(mut self) -> Self {
        self.five = false;
        self
    }

    const fn kit(mut self, n: u64) -> Self {
        self.kit_n = n;
        self
    }

    const fn reads(mut self, input: Input) -> Self {
        self.input = input;
        self
    }
}

/// All cases.
pub(crate) const CASES: &[Case] = &[
    lang("for-colon", 40_000, "for ((i=0;i<N;i++)); do :; done"),
    lang("for-in-brace", 40_000, "eval \"for i in {1..$N}; do :; done\"").kit(4_000),
    lang("c-for-sum", 60_000, "s=0; for ((i=0;i<N;i++)); do ((s+=i)); done; echo $s"),
    lang("while-test", 30_000, "i=0; while [ $i -lt $N ]; do i=$((i+1)); done; echo $i"),
    lang("while-cond", 40_000, "i=0; while [[ $i -lt $N ]]; do ((i++)); done; echo $i"),
    lang("array-append", 60_000, "a=(); for ((i=0;i<N;i++)); do a+=($i); done; echo ${#a[@]}").kit(2_000),
    lang("array-read", 60_000, "a=(1 2 3 4 5 6 7 8); s=0; for ((i=0;i<N;i++)); do s=$((s+a[i%8])); done; echo $s"),
    lang("array-loop", 60_000, "a=({1..1000}); s=0; for ((j=0;j<N/1000;j++)); do for x in \"${a[@]}\"; do ((s+=x)); done; done; echo $s"),
    lang("assoc", 30_000, "declare -A m; for ((i=0;i<N;i++)); do m[k$((i%100))]=$i; done; echo ${#m[@]}"),
    lang("function", 25_000, "f() { local x=$1; r=$x; }; for ((i=0;i<N;i++)); do f $i; done; echo $r"),
    lang("fib-12", 1, "fib() { if [ $1 -lt 2 ]; then echo $1; else echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); fi; }; for ((i=0;i<N;i++)); do fib 12; done"),
    lang("string-append", 60_000, "s=; for ((i=0;i<N;i++)); do s+=xyz; done; echo ${#s}").kit(20_000),
    lang("append-100B", 4_000, "x=1234567890; x=$x$x$x$x$x$x$x$x$x$x; s=; for ((i=0;i<N;i++)); do s+=$x; done; echo ${#s}"),
    lang("expansions", 15_000, "x=hello.world.txt; for ((i=0;i<N;i++)); do y=${x%.*}; z=${y#*.}; w=${x/world/you}; done; echo $z $w"),
    lang("case", 40_000, "c=0; for ((i=0;i<N;i++)); do case $((i%4)) in 0) ((c+=1));; 1|2) ((c+=2));; *) ((c+=3));; esac; done; echo $c"),
    lang("case-glob", 40_000, "c=0; for ((i=0;i<N;i++)); do case x$i.txt in *.c|*.h) ((c+=1));; x*[05].txt) ((c+=2));; *) ((c+=3));; esac; done; echo $c"),
    lang("if-regex", 10_000, "c=0; for ((i=0;i<N;i++)); do if [[ k$i =~ ^k([0-9]+)5$ ]]; then ((c+=${#BASH_REMATCH[1]})); fi; done; echo $c"),
    lang("printf-v", 25_000, "for ((i=0;i<N;i++)); do printf -v s '%05d' $i; done; echo $s"),
    lang("echo", 40_000, "for ((i=0;i<N;i++)); do echo $i; done > /dev/null"),
    lang("subshell", 300, "for ((i=0;i<N;i++)); do ( : ); done").kit(5_000),
    lang("command-sub", 300, "for ((i=0;i<N;i++)); do x=$(echo $i); done; echo $x").kit(5_000),
    lang("pipeline", 100, "for ((i=0;i<N;i++)); do echo $i | cat > /dev/null; done").kit(2_000),
    lang("while-read", 12_000, "while read -r a b c; do n=$a; done < data; echo $n").reads(Input::Lines).kit(1_000),
    lang("seq-read", 12_000, "seq $N | while read x; do n=$x; done; echo done").kit(1_000),
    text("seq-grep-wc", true, 2_000_000, "seq 1 $N | grep 7 | wc -l"),
    text("sed-sort-uniq", true, 100_000, "sed 's/fox/dog/' data | cut -d' ' -f6 | sort | uniq -c | tail -1"),
    text("awk-sum", true, 500_000, "awk '{ s += $6 } END { print s }' data"),
    text("awk-fields", true, 500_000, "awk '{ print $6, $1 }' data | tail -1"),
    text("awk-count", true, 500_000, "awk '{ c[$6]++ } END { print length(c), c[5] }' data"),
    text("awk-gsub", true, 200_000, "awk '{ gsub(/o/, \"0\"); print }' data | tail -1"),
    text("awk-upper", true, 300_000, "awk '{ print toupper(substr($0, 1, 20)) }' data | tail -1"),
    text("awk-match", true, 500_000, "awk '/9 jumps/ { n++ } END { print n }' data"),
    text("awk-loop", true, 5_000_000, "awk -v n=$N 'BEGIN { for (i = 0; i < n; i++) s += i; print s % 97 }'").reads(Input::None),
    text("sed-first", true, 300_000, "sed 's/fox/dog/' data | tail -1"),
    text("sed-global", true, 200_000, "sed 's/o/0/g' data | tail -1"),
    text("sed-delete", true, 500_000, "sed -n '/42 jumps/p' data | tail -1"),
    text("grep-literal", true, 5_000_000, "grep -c 'fox 42' data").kit(50_000),
    text("grep-regex", true, 500_000, "grep -cE '[0-9]+ the .* (1|2)[0-9] ' data"),
    text("grep-ignore", true, 500_000, "grep -ci 'FOX 4[27]' data"),
    text("cut", false, 500_000, "cut -d' ' -f2,6 data | tail -1"),
    text("sort", false, 100_000, "sort data | tail -1"),
    text("sort-n", false, 200_000, "sort -n data | tail -1"),
    text("sort-keys", false, 100_000, "sort -k6,6n -k1,1nr data | tail -1"),
    text("tr-wc", false, 500_000, "tr a-z A-Z < data | wc"),
    text("wc-l", false, 10_000_000, "wc -l < data"),
    text("cat-grep-wc", true, 2_000_000, "cat data | grep 9 | wc -c"),
    text("head-tail", false, 5_000_000, "head -n $((N-1)) data | tail -n 1"),
    text("jq", false, 50_000, "jq .a.b data | tail -1").reads(Input::Json).kit(5_000),
    text("jq-objects", false, 30_000, "jq -c 'select(.a.b % 2 == 0) | {n: .a.b, k: .k[1]}' data | tail -1").reads(Input::Json).kit(5_000),
    files("create-files", 1000, Input::None, "mkdir -p d; for ((i=0;i<N;i++)); do echo $i > d/$i; done; rm -rf d"),
    files("read-files", 2000, Input::Files, "for f in d/*; do read -r x < $f; done; echo $x"),
    files("append-file", 1000, Input::None, "for ((i=0;i<N;i++)); do echo $i >> f; done; wc -c < f; rm f"),
    files("find-files", 2000, Input::Files, "find d -type f -name '*7' | wc -l").other(),
];

/// Calls on a warm session, the examples of the tool's help among them.
pub(crate) const CALLS: &[(&str, &str)] = &[
    ("warm-echo", "echo hi"),
    ("call-hello", "echo 'Hello, World!'"),
    ("call-arith", "x=5; y=3; echo $((x + y))"),
    ("call-pipe", "echo -e 'apple\\nbanana' | grep a"),
    ("call-jq", "echo '{\"n\":1}' | jq '.n'"),
    ("call-file", "echo data > /tmp/f.txt && cat /tmp/f.txt"),
    ("call-loop", "for i in 1 2 3; do echo $i; done"),
];

/// What has to stay linear: a name and a script.
pub(crate) const LINEAR: &[(&str, &str)] = &[
    ("array elements", "a=(); for ((i=0;i<N;i++)); do a+=($i); done; echo ${#a[@]}"),
    ("array, one by one", "for ((i=0;i<N;i++)); do a[i]=$i; done; echo ${#a[@]}"),
    ("assoc keys", "declare -A m; for ((i=0;i<N;i++)); do m[$i]=$i; done; echo ${#m[@]}"),
    ("files", "mkdir d; for ((i=0;i<N;i++)); do : > d/$i; done"),
    ("string bytes x10", "for ((i=0;i<N;i++)); do s+=0123456789; done; echo ${#s}"),
];
