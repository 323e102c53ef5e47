def recurse(f): def r: ., (f | r); r;
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def recurse: recurse(.[]?);
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def isfinite: type == "number" and (isinfinite | not);
def finites: select(isfinite);
def normals: select(isnormal);
def isvalid(f): try (f | true) catch false;
def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): _unique_by(map([f]));
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def add(f): reduce f as $x (null; . + $x);
def del(f): delpaths([path(f)]);
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def from_entries:
  reduce .[] as $entry ({};
    . + { ($entry
           | (.key // .Key // .k // .name // .Name // .K)
           | if type == "string" then . else error("Cannot use \(type) (\(tojson)) as object key") end):
          ($entry | if has("value") then .value elif has("v") then .v else .Value end) });
def with_entries(f): to_entries | map(f) | from_entries;
def any(source; cond): first((source | cond | select(.) | true), false);
def all(source; cond): first((source | cond | select(not) | false), true);
def any(cond): any(.[]; cond);
def all(cond): all(.[]; cond);
def any: any(.[]; .);
def all: all(.[]; .);
def isempty(g): first((g | false), true);
def range($from; $upto; $by):
  if $by > 0 then $from | while(. < $upto; . + $by)
  elif $by < 0 then $from | while(. > $upto; . + $by)
  else empty end;
def while(cond; update): def step: if cond then ., (update | step) else empty end; step;
def until(cond; update): def step: if cond then . else update | step end; step;
def repeat(f): def step: f, step; step;
def inputs: label $out | repeat(try input catch if . == "break" then break $out else error end);
def limit($n; f):
  if $n > 0 then label $out | foreach f as $item (0; . + 1; $item, if . >= $n then break $out else empty end)
  elif $n == 0 then empty
  else f end;
def skip($n; f):
  if $n > 0 then foreach f as $item ($n; . - 1; if . < 0 then $item else empty end)
  elif $n == 0 then f
  else error("skip doesn't support negative count") end;
def last(f): reduce f as $item (null; $item);
def nth($n; f):
  if $n < 0 then error("nth doesn't support negative indices")
  else label $out | foreach f as $item ($n + 1; . - 1; if . <= 0 then $item, break $out else empty end) end;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def combinations:
  if length == 0 then []
  else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations(n): . as $dot | [range(n) | $dot] | combinations;
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def indices($i):
  if type == "array" and ($i | type) == "array" then .[$i]
  elif type == "array" then .[[$i]]
  elif type == "string" and ($i | type) == "string" then _strindices($i)
  else .[[$i]] end;
def index($i): indices($i) | .[0];
def rindex($i): indices($i) | .[-1:][0];
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todate: todateiso8601;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def _regex($val; f):
  ($val | type) as $kind
  | if $kind == "string" then [$val, null] | f
    elif $kind == "array" and ($val | length) > 1 then $val | f
    elif $kind == "array" and ($val | length) > 0 then [$val[0], null] | f
    else error($kind + " not a string or array") end;
def match(re; flags): _match(re; flags; false) | .[];
def match($val): . as $in | _regex($val; . as [$re, $flags] | $in | match($re; $flags));
def test(re; flags): _match(re; flags; true);
def test($val): . as $in | _regex($val; . as [$re, $flags] | $in | test($re; $flags));
def _captured: reduce (.captures[] | select(.name != null)) as {$name, $string} ({}; .[$name] = $string);
def capture(re; flags): match(re; flags) | _captured;
def capture($val): . as $in | _regex($val; . as [$re, $flags] | $in | capture($re; $flags));
def scan($re; $flags): match($re; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; null);
def split($re; flags):
  . as $in
  | [foreach ((match($re; flags + "g") | [.offset, .length]), null) as $m
      ([0, null];
       if $m == null then [0, $in[.[0]:]] else [$m[0] + $m[1], $in[.[0]:$m[0]]] end;
       .[1])];
def splits($re; flags): split($re; flags) | .[];
def splits($re): splits($re; null);
def sub($re; str; $flags):
  . as $in
  | [match($re; $flags)] as $edits
  | if ($edits | length) == 0 then $in
    else
      reduce $edits[] as $edit ({texts: [], at: 0};
        $in[.at:$edit.offset] as $gap
        | .texts as $texts
        | [$edit | _captured | str] as $inserts
        | .texts = [range($inserts | length) as $n | ($texts[$n] // "") + $gap + $inserts[$n]]
        | .at = $edit.offset + $edit.length)
      | .texts[] + $in[.at:]
    end;
def sub($re; str): sub($re; str; "");
def gsub($re; str; $flags): sub($re; str; $flags + "g");
def gsub($re; str): sub($re; str; "g");
def ascii(f): f | ascii;
def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f):
  {value: null, done: false} as $init
  | foreach f as $event ($init;
      if .done then $init else . end
      | if ($event | length) == 2
        then .done = ($event[0] | length == 0) | setpath(["value"] + $event[0]; $event[1])
        else .done = ($event[0] | length == 1) end;
      if .done then .value else empty end);
def truncate_stream(stream):
  . as $n | null | stream | . as $event
  | if (.[0] | length) > $n then setpath([0]; $event[0][$n:]) else empty end;
def pick(paths): . as $in | reduce path(paths) as $p (null; setpath($p; $in | getpath($p)));
def debug(msgs): (msgs | debug | empty), .;
def INDEX(stream; key): reduce stream as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def JOIN($idx; key): [.[] | [., $idx[key]]];
def JOIN($idx; stream; key): stream | [., $idx[key]];
def JOIN($idx; stream; key; join): stream | [., $idx[key]] | join;
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
