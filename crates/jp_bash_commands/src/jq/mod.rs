//! `jq` 1.7: a language for JSON. The evaluator is our own: it never recurses on the machine stack for
//! what a program or a document makes deep, and everything it holds is counted.

mod ast;
mod cli;
mod code;
mod compile;
mod compile_parts;
mod dates;
mod fail;
mod format;
mod fuel;
mod input;
mod json;
mod lex;
mod machine;
mod module;
mod native;
mod number;
mod ops;
mod order;
mod parse;
mod parse_object;
mod paths;
mod prelude;
mod print;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod world;

use std::sync::Arc;

use cli::{Given, Indent, Options, Show, Terminator};
use code::{Global, Program};
use compile::Compiler;
use fail::Fail;
use fuel::Fuel;
use input::{Inputs, Trouble};
use machine::Machine;
use print::{Colors, Style};
use text::Text;
use value::Value;
use world::World;

use jp_bash_system::io::{Output, complain};
use jp_bash_system::{PIECE, Stop, SysError, System};

use crate::Spec;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "jq",
    about: "filter and transform JSON",
    run,
    options: cli::OPTIONS,
};

/// Encodes in Base64; `curl` needs it too.
pub(crate) fn base64(text: &[u8]) -> Vec<u8> {
    format::base64(text)
}

/// Where modules are looked for without `-L`.
const SEARCH: [&[u8]; 3] = [b"~/.jq", b"$ORIGIN/../lib/jq", b"$ORIGIN/../lib"];

/// Ends the run with this status; a message was printed.
struct Exit(i32);

/// Why a run ended early.
enum End {
    Exit(i32),
    Stop(Stop),
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Exit> for End {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit.0)
    }
}

/// Runs `jq`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let options = match cli::read(args) {
        Ok(options) => options,
        Err(misuse) => {
            complain(sys, b"jq", misuse.to_string().as_bytes())?;
            let hint = b"Use jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq\n";
            return match sys.write(2, hint) {
                Err(SysError::Stop(stop)) => Err(stop),
                _ => Ok(2),
            };
        }
    };
    if let Some(show) = options.show {
        let text = match show {
            Show::Help => cli::HELP,
            Show::Version => "jq-1.7.1\n",
            Show::Build => "jp_bash\n",
        };
        let mut out = Output::new(1);
        out.put(sys, text.as_bytes())?;
        let done = out.finish(sys)?;
        return Ok(if done.is_ok() { 0 } else { 2 });
    }
    let mut fuel = Fuel::new(sys);
    let result = prepare(&mut fuel, &options);
    match result {
        Ok((program, style)) => evaluate(fuel, &program, &style, options),
        Err(End::Exit(status)) => {
            drop(options);
            fuel.finish();
            Ok(status)
        }
        Err(End::Stop(stop)) => {
            drop(options);
            fuel.finish();
            Err(stop)
        }
    }
}

fn say(fuel: &mut Fuel<'_>, message: &str) -> Result<(), Stop> {
    fuel.sync()?;
    complain(fuel.sys, b"jq", message.as_bytes())
}

/// Reads the program, its modules and its variables.
fn prepare(fuel: &mut Fuel<'_>, options: &Options) -> Result<(Program, Style), End> {
    let text = match (&options.from_file, &options.filter) {
        (Some(path), _) => match module::read_file(fuel, path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let path = String::from_utf8_lossy(path).into_owned();
                say(
                    fuel,
                    &format!("Could not open {path}: No such file or directory"),
                )?;
                return Err(End::Exit(2));
            }
            Err(fail) => return Err(stopped(fail)),
        },
        (None, Some(filter)) => filter.clone(),
        (None, None) => b".".to_vec(),
    };
    let mut globals = globals(fuel, options)?;
    let source = match parse::parse(&text) {
        Ok(source) => source,
        Err(error) => {
            let line = module::line_of(&text, error.at);
            let shown = String::from_utf8_lossy(&text).into_owned();
            return Err(rejected(
                fuel,
                &format!("{} at <top-level>, line {line}:\n{shown}", error.message),
            )?
            .into());
        }
    };
    let search = search(options);
    let mut loader = module::Loader {
        fuel,
        search: &search,
        globals: &mut globals,
        count: 0,
    };
    let module = match loader.load(source, b".", 0) {
        Ok(module) => module,
        Err(module::Trouble::Message(message)) => return Err(rejected(fuel, &message)?.into()),
        Err(module::Trouble::Fail(fail)) => return Err(stopped(fail)),
    };
    match Compiler::new(&globals).program(&module) {
        Ok(program) => Ok((program, style(fuel, options))),
        Err(error) => Err(rejected(fuel, &module::describe(&error, &text))?.into()),
    }
}

fn search(options: &Options) -> Vec<Vec<u8>> {
    if options.library.is_empty() {
        SEARCH.iter().map(|path| path.to_vec()).collect()
    } else {
        options.library.clone()
    }
}

/// Reports a program that cannot be run.
fn rejected(fuel: &mut Fuel<'_>, message: &str) -> Result<Exit, Stop> {
    say(fuel, &format!("error: {message}"))?;
    say(fuel, "1 compile error")?;
    Ok(Exit(3))
}

fn stopped(fail: Fail) -> End {
    match fail {
        Fail::Stop(stop) => End::Stop(stop),
        Fail::Halt { status, .. } => End::Exit(status),
        Fail::Error(_) => End::Exit(5),
    }
}

/// Collects the variables that the command line binds.
fn globals(fuel: &mut Fuel<'_>, options: &Options) -> Result<Vec<Global>, End> {
    let mut named = Vec::new();
    for (name, given) in &options.named {
        let value = match given {
            Given::Value(value) => value.clone(),
            Given::Slurp(path) | Given::Raw(path) => {
                let raw = matches!(given, Given::Raw(_));
                let kind = if raw { "rawfile" } else { "slurpfile" };
                let shown = format!(
                    "Bad JSON in --{kind} {} {}",
                    name.as_str(),
                    String::from_utf8_lossy(path)
                );
                match module::read_file(fuel, path).map_err(stopped)? {
                    None => {
                        let path = String::from_utf8_lossy(path).into_owned();
                        say(
                            fuel,
                            &format!("{shown}: Could not open {path}: No such file or directory"),
                        )?;
                        return Err(End::Exit(2));
                    }
                    Some(text) if raw => Value::String(json::lossy(&text)),
                    Some(text) => match module::texts(&text) {
                        Ok(value) => value,
                        Err(error) => {
                            say(fuel, &format!("{shown}: {error}"))?;
                            return Err(End::Exit(2));
                        }
                    },
                }
            }
        };
        named.push((name.clone(), value));
    }
    let args = Value::object([
        (
            Text::from("positional"),
            Value::array(options.positional.clone()),
        ),
        (Text::from("named"), Value::object(named.clone())),
    ]);
    let environment = world::environment(fuel).map_err(End::Stop)?;
    let mut globals = vec![(Text::from("ENV"), environment), (Text::from("ARGS"), args)];
    globals.extend(named);
    Ok(globals)
}

fn style(fuel: &Fuel<'_>, options: &Options) -> Style {
    Style {
        indent: match options.indent {
            Indent::None => None,
            Indent::Spaces(n) => Some(vec![b' '; n]),
            Indent::Tab => Some(vec![b'\t']),
        },
        sort: options.sort,
        ascii: options.ascii,
        colors: options.color.then(|| {
            let wanted = fuel.sys.env(b"JQ_COLORS").unwrap_or_default();
            Arc::new(colors(&wanted))
        }),
    }
}

/// Reads `JQ_COLORS`; what is not a list of numbers leaves the defaults.
fn colors(wanted: &[u8]) -> Colors {
    let mut colors = [
        "1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1",
    ]
    .map(|color| format!("\x1b[{color}m").into_bytes());
    let valid = wanted
        .iter()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'));
    if valid && !wanted.is_empty() {
        for (color, wanted) in colors.iter_mut().zip(wanted.split(|byte| *byte == b':')) {
            *color = [b"\x1b[", wanted, b"m"].concat();
        }
    }
    Colors(colors)
}

/// Runs the program on each input.
fn evaluate(
    fuel: Fuel<'_>,
    program: &Program,
    style: &Style,
    options: Options,
) -> Result<i32, Stop> {
    let search = search(&options);
    let inputs = Inputs::new(options.mode, options.files.clone());
    let mut world = World::new(fuel, inputs, search);
    let mut session = Session {
        machine: Machine::new(program),
        out: Output::new(1),
        style,
        options,
        status: 0,
        last: None,
    };
    let result = session.all(&mut world);
    let finished = match result {
        Ok(status) => session.finish(&mut world, status),
        Err(stop) => {
            // What was printed before a limit stays printed.
            session.out.flush(world.fuel.sys)?;
            Err(stop)
        }
    };
    let World {
        fuel,
        inputs,
        regexes,
        ..
    } = world;
    drop((inputs, regexes));
    fuel.finish();
    finished
}

struct Session<'p> {
    machine: Machine<'p>,
    out: Output,
    style: &'p Style,
    options: Options,
    status: i32,
    /// The last result, as `-e` asks for it.
    last: Option<bool>,
}

impl Session<'_> {
    /// Runs on all inputs and returns the status, or `None` for the one of the results.
    fn all(&mut self, world: &mut World<'_>) -> Result<Option<i32>, Stop> {
        if self.options.null_input {
            return self.one(world, Value::Null);
        }
        loop {
            match world.inputs.next(&mut world.fuel) {
                Ok(None) => return Ok(world.inputs.unreadable.then_some(2)),
                Ok(Some(value)) => {
                    let halted = self.one(world, value)?;
                    if halted.is_some() {
                        return Ok(halted);
                    }
                    if self.out.failed() {
                        return Ok(None);
                    }
                }
                Err(Trouble::Parse(message)) => {
                    if self.options.mode.seq {
                        say(&mut world.fuel, &format!("ignoring parse error: {message}"))?;
                        return Ok(None);
                    }
                    say(&mut world.fuel, &format!("parse error: {message}"))?;
                    return Ok(Some(5));
                }
                Err(Trouble::Fail(Fail::Stop(stop))) => return Err(stop),
                Err(Trouble::Fail(_)) => return Ok(Some(5)),
            }
        }
    }

    /// Runs on one input; a status means that the program asked to stop.
    fn one(&mut self, world: &mut World<'_>, input: Value) -> Result<Option<i32>, Stop> {
        self.status = 0;
        let mut step = self.machine.start(world, input);
        loop {
            let next = match step {
                Ok(()) => self.machine.next(world),
                Err(fail) => Err(fail),
            };
            match next {
                Ok(None) => return Ok(None),
                Ok(Some(value)) => {
                    self.last = Some(value.truthy());
                    step = match self.print(world, &value) {
                        Ok(()) => Ok(()),
                        Err(fail) => Err(fail),
                    };
                    if self.out.failed() {
                        return Ok(None);
                    }
                }
                Err(Fail::Stop(stop)) => return Err(stop),
                Err(Fail::Halt { status, message }) => {
                    self.halt(world, message)?;
                    return Ok(Some(status));
                }
                Err(Fail::Error(error)) => {
                    self.status = 5;
                    self.report(world, &error)?;
                    return Ok(None);
                }
            }
        }
    }

    fn print(&mut self, world: &mut World<'_>, value: &Value) -> Result<(), Fail> {
        if self.options.mode.seq {
            self.out.buffer().push(0x1e);
        }
        let raw = self.options.raw_output;
        match (raw, value.text()) {
            (true, Some(text)) => {
                if self.options.terminator == Terminator::Nul && text.contains(&0) {
                    return Err(fail::error(
                        "Cannot dump a string containing NUL with --raw-output0 option",
                    ));
                }
                world.fuel.sync()?;
                if self.options.ascii {
                    let mut quoted = Vec::new();
                    print::quote(&mut quoted, text, true);
                    self.out.put(world.fuel.sys, &quoted)?;
                } else {
                    self.out.put(world.fuel.sys, text)?;
                }
            }
            _ => {
                // A large result is written by pieces, so that it is not held twice.
                print::dump(&mut world.fuel, value, self.style, self.out.buffer())?;
            }
        }
        match self.options.terminator {
            Terminator::Newline => self.out.buffer().push(b'\n'),
            Terminator::Nul => self.out.buffer().push(0),
            Terminator::Nothing => {}
        }
        world.fuel.sync()?;
        // What is large was asked for step by step, and goes out as a whole.
        if self.options.unbuffered || self.out.buffer().len() > PIECE {
            self.out.flush(world.fuel.sys)?;
        } else {
            self.out.settle(world.fuel.sys)?;
        }
        Ok(())
    }

    fn report(&mut self, world: &mut World<'_>, error: &Value) -> Result<(), Stop> {
        let place = world.inputs.place();
        let message = match error.text() {
            Some(text) => format!("error (at {place}): {}", String::from_utf8_lossy(text)),
            None => {
                let shown = print::to_json(&mut world.fuel, error)?;
                format!(
                    "error (at {place}) (not a string): {}",
                    String::from_utf8_lossy(&shown)
                )
            }
        };
        say(&mut world.fuel, &message)
    }

    /// Prints what `halt_error` was given: a string as it is, anything else as JSON on a line.
    fn halt(&mut self, world: &mut World<'_>, message: Option<Value>) -> Result<(), Stop> {
        let text = match message {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text.to_vec(),
            Some(other) => {
                let mut shown = print::to_json(&mut world.fuel, &other)?;
                shown.push(b'\n');
                shown
            }
        };
        self.out.flush(world.fuel.sys)?;
        match world.fuel.sys.write(2, &text) {
            Err(SysError::Stop(stop)) => Err(stop),
            _ => Ok(()),
        }
    }

    fn finish(self, world: &mut World<'_>, status: Option<i32>) -> Result<i32, Stop> {
        let done = self.out.finish(world.fuel.sys)?;
        if let Err(errno) = done {
            say(
                &mut world.fuel,
                &format!("error: writing output failed: {errno}"),
            )?;
            return Ok(2);
        }
        Ok(match status {
            Some(status) => status,
            None if self.status != 0 => self.status,
            None if world.inputs.unreadable => 2,
            None if self.options.exit_status => match self.last {
                Some(true) => 0,
                Some(false) => 1,
                None => 4,
            },
            None => 0,
        })
    }
}
