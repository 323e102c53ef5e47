//! `find`: walks trees and does things with what it meets.
//!
//! Directories are listed by name; GNU's order is whatever the disk gives.

mod eval;
mod exec;
mod expr;
mod parse;
mod printf;

use jp_bash_system::{Errno, FileKind, Follow, OpenHow, Stat, Stop, System, failed};

use super::Spec;
use super::file::Cmd;
use super::file::name::{base_name, join};
use super::options::{Opt, Takes, opt, refused};
use eval::Evaluator;
use parse::{Bad, Parser, Plan};

pub(crate) const SPEC: Spec = Spec {
    name: "find",
    about: "walk trees and test what is in them",
    run,
    options: OPTIONS,
};

/// Only what stands before the paths; the rest is an expression.
const OPTIONS: &[Opt] = &[
    opt('H', Some(b'H'), None, Takes::Nothing),
    opt('L', Some(b'L'), None, Takes::Nothing),
    opt('P', Some(b'P'), None, Takes::Nothing),
    opt('O', Some(b'O'), None, Takes::Optional),
    refused(
        Some(b'D'),
        None,
        Takes::Required,
        "there is nothing to debug",
    ),
];

pub(super) const HELP: &[u8] = b"Usage: find [-H] [-L] [-P] [-Olevel] [path...] [expression]

Operators: ( EXPR )  ! EXPR  -not EXPR  EXPR1 -a EXPR2  EXPR1 -o EXPR2  EXPR1 , EXPR2
Options:   -daystart -depth -follow -maxdepth N -mindepth N -mount -xdev -regextype TYPE -files0-from FILE
Tests:     -amin -anewer -atime -cmin -cnewer -ctime -empty -executable -false -fstype -gid -group -ilname
           -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -newerXY -nogroup
           -nouser -path -perm -readable -regex -samefile -size -true -type -uid -used -user -wholename
           -writable -xtype
Actions:   -delete -exec CMD ; -exec CMD {} + -execdir -fls -fprint -fprint0 -fprintf -ls -print -print0
           -printf -prune -quit
Not supported: -ok -okdir (nobody is there to be asked), -context, -D
";

/// Which symlinks are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Never,
    Operands,
    Always,
}

/// Something that was met.
pub(super) struct Item {
    pub(super) path: Vec<u8>,
    /// How much of the path is the operand.
    pub(super) start: usize,
    pub(super) depth: usize,
    pub(super) stat: Stat,
}

impl Item {
    pub(super) fn name(&self) -> &[u8] {
        base_name(&self.path)
    }
}

/// What is still to do.
enum Step {
    Meet {
        path: Vec<u8>,
        start: usize,
        depth: usize,
    },
    /// The content of a directory is done.
    Leave(Item),
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let (links, skip) = match leading(&mut cmd, args)? {
        Ok(found) => found,
        Err(status) => return Ok(status),
    };
    let rest = args.get(skip..).unwrap_or_default();
    let paths = rest.iter().take_while(|arg| !is_expression(arg)).count();
    let (paths, expression) = rest.split_at(paths);
    let plan = match Parser::new(&mut cmd, expression).plan() {
        Ok(plan) => plan,
        Err(Bad::Stop(stop)) => return Err(stop),
        Err(Bad::Done) => return cmd.finish(),
        Err(Bad::Text(text)) => {
            cmd.error(&[&text])?;
            return cmd.finish();
        }
    };
    let links = if plan.follow { Links::Always } else { links };
    let Some(paths) = operands(&mut cmd, paths, &plan)? else {
        return cmd.finish();
    };
    let sinks = plan.sinks.clone();
    let mut evaluator = Evaluator::new(&mut cmd, &plan, links);
    for path in &paths {
        if walk(&mut evaluator, path, &plan, links)? {
            break;
        }
    }
    evaluator.finish()?;
    for fd in sinks.into_iter().skip(1) {
        cmd.sys.close(fd);
    }
    cmd.finish()
}

/// Reads `-H`, `-L`, `-P`, `-O` and `-D`; `Err` is a status after a message.
fn leading(cmd: &mut Cmd<'_>, args: &[Vec<u8>]) -> Result<Result<(Links, usize), i32>, Stop> {
    let mut links = Links::Never;
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        match arg.as_slice() {
            b"-H" => links = Links::Operands,
            b"-L" => links = Links::Always,
            b"-P" => links = Links::Never,
            b"--" => {
                at += 1;
                break;
            }
            [b'-', b'O', level @ ..] => {
                if level.is_empty() || !level.iter().all(u8::is_ascii_digit) {
                    let text: Vec<u8> = match level.first() {
                        None => b"The -O option must be immediately followed by a decimal integer"
                            .to_vec(),
                        Some(first) if first.is_ascii_digit() => {
                            [b"Invalid optimisation level ", level].concat()
                        }
                        Some(_) => b"Please specify a decimal number immediately after -O".to_vec(),
                    };
                    cmd.error(&[&text])?;
                    return Ok(Err(1));
                }
                if crate::numbers::size(level, b"").is_err() {
                    let range = b": Numerical result out of range";
                    cmd.error(&[b"Invalid optimisation level ", level, range])?;
                    return Ok(Err(1));
                }
            }
            b"-D" => {
                cmd.error(&[b"option '-D' is not supported: there is nothing to debug"])?;
                return Ok(Err(1));
            }
            _ => break,
        }
        at += 1;
    }
    Ok(Ok((links, at)))
}

/// Tells whether an argument begins the expression; before it, `)` and `,` are paths.
fn is_expression(arg: &[u8]) -> bool {
    matches!(arg, [b'-', _, ..] | b"(" | b"!")
}

/// Returns where to start; `None` after a message.
fn operands(
    cmd: &mut Cmd<'_>,
    paths: &[Vec<u8>],
    plan: &Plan,
) -> Result<Option<Vec<Vec<u8>>>, Stop> {
    let Some(list) = &plan.files_from else {
        return Ok(Some(match paths {
            [] => vec![b".".to_vec()],
            paths => paths.to_vec(),
        }));
    };
    if let Some(extra) = paths.first() {
        let extra = cmd.quote(extra);
        cmd.error(&[b"extra operand ", &extra])?;
        cmd.error(&[b"file operands cannot be combined with -files0-from"])?;
        return Ok(None);
    }
    let fd = if list == b"-" {
        0
    } else {
        match failed(cmd.sys.open(list, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => {
                let name = cmd.quote(list);
                cmd.fail(&[b"cannot open ", &name, b" for reading"], errno)?;
                return Ok(None);
            }
        }
    };
    let mut input = jp_bash_system::io::Input::new(fd);
    let mut found = Vec::new();
    while let Ok(Some(record)) = failed(input.record(cmd.sys, 0))? {
        let record = record.strip_suffix(b"\0").unwrap_or(record).to_vec();
        cmd.sys.reserve(record.len() as u64 + 32)?;
        if record.is_empty() {
            let name = cmd.quote(list);
            cmd.error(&[&name, b": invalid zero-length file name"])?;
            continue;
        }
        found.push(record);
    }
    Ok(Some(found))
}

/// Walks from an operand; tells whether `-quit` was met.
fn walk(
    evaluator: &mut Evaluator<'_, '_>,
    operand: &[u8],
    plan: &Plan,
    links: Links,
) -> Result<bool, Stop> {
    let mut steps = vec![Step::Meet {
        path: operand.to_vec(),
        start: operand.len(),
        depth: 0,
    }];
    // The directories we are in, for loops through symlinks.
    let mut inside: Vec<(u64, u64, Vec<u8>)> = Vec::new();
    let mut device = None;
    while let Some(step) = steps.pop() {
        evaluator.cmd.sys.work(1)?;
        let (path, start, depth) = match step {
            Step::Leave(item) => {
                inside.pop();
                if plan.depth_first && item.depth >= plan.min_depth {
                    evaluator.eval(&item)?;
                    if evaluator.quit {
                        return Ok(true);
                    }
                }
                continue;
            }
            Step::Meet { path, start, depth } => (path, start, depth),
        };
        let Some(stat) = look(evaluator.cmd, &path, depth, links)? else {
            continue;
        };
        let item = Item {
            path,
            start,
            depth,
            stat,
        };
        let is_dir = stat.kind == FileKind::Directory;
        let first_device = *device.get_or_insert(stat.dev);
        if is_dir
            && let Some((_, _, above)) = inside
                .iter()
                .find(|(dev, ino, _)| (*dev, *ino) == (stat.dev, stat.ino))
        {
            let (here, above) = (evaluator.cmd.quote(&item.path), evaluator.cmd.quote(above));
            evaluator.cmd.error(&[
                b"File system loop detected; ",
                &here,
                b" is part of the same file system loop as ",
                &above,
                b".",
            ])?;
            continue;
        }
        evaluator.prune = false;
        let later = plan.depth_first && is_dir;
        if !later && depth >= plan.min_depth {
            evaluator.eval(&item)?;
            if evaluator.quit {
                return Ok(true);
            }
        }
        let stays = !plan.one_device || stat.dev == first_device;
        let enters =
            is_dir && depth < plan.max_depth && stays && (plan.depth_first || !evaluator.prune);
        if !enters {
            if later && depth >= plan.min_depth {
                evaluator.eval(&item)?;
                if evaluator.quit {
                    return Ok(true);
                }
            }
            continue;
        }
        inside.push((stat.dev, stat.ino, item.path.clone()));
        let listed = failed(evaluator.cmd.sys.read_dir(&item.path))?;
        let children = match listed {
            Ok(children) => children,
            Err(errno) => {
                let name = evaluator.cmd.quote(&item.path);
                evaluator.cmd.fail(&[&name], errno)?;
                Vec::new()
            }
        };
        let met: Vec<Step> = children
            .iter()
            .rev()
            .map(|child| Step::Meet {
                path: join(&item.path, &child.name),
                start,
                depth: depth + 1,
            })
            .collect();
        steps.push(Step::Leave(item));
        steps.extend(met);
    }
    Ok(false)
}

/// Looks at a file as the links option wants; `None` after a message.
fn look(cmd: &mut Cmd<'_>, path: &[u8], depth: usize, links: Links) -> Result<Option<Stat>, Stop> {
    let follow = links == Links::Always || links == Links::Operands && depth == 0;
    let link = match failed(cmd.sys.stat(path, Follow::No))? {
        Ok(stat) => stat,
        Err(errno) => {
            let name = cmd.quote(path);
            cmd.fail(&[&name], errno)?;
            return Ok(None);
        }
    };
    if !follow || link.kind != FileKind::Symlink {
        return Ok(Some(link));
    }
    match failed(cmd.sys.stat(path, Follow::Yes))? {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::Loop) => {
            let name = cmd.quote(path);
            cmd.fail(&[&name], Errno::Loop)?;
            Ok(None)
        }
        // A symlink that leads nowhere is taken for itself.
        Err(_) => Ok(Some(link)),
    }
}
