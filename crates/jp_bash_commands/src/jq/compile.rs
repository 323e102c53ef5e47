//! Turns the tree into code. Evaluation order is jq's: of operands and arguments, the last varies slowest.

mod fold;
mod link;

use std::collections::HashMap;
use std::sync::Arc;

use link::{link, may_drop_frame, retarget, returns};

use super::ast::{Ast, Def, Suffix};
use super::code::{Call, CompileError, Function, Global, Op, Program, Slot, Target};
use super::native;
use super::prelude;
use super::text::Text;
use super::value::Value;

pub(super) type Compiled<T> = Result<T, CompileError>;

#[derive(Clone)]
pub(super) struct Binding {
    pub(super) name: Text,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Var(u32),
    Label(u32),
    Function { function: u32, arity: usize },
    Param(u32),
}

/// A function whose code is being made.
#[derive(Default)]
struct Scope {
    bindings: Vec<Binding>,
    code: Vec<Op>,
    function: u32,
    params: u32,
    slots: u32,
}

pub(super) struct Compiler<'g> {
    scopes: Vec<Scope>,
    program: Program,
    /// Code of finished functions, until all are linked.
    done: Vec<Vec<Op>>,
    builtins: HashMap<(Text, usize), u32>,
    globals: &'g [Global],
}

impl<'g> Compiler<'g> {
    pub(super) fn new(globals: &'g [Global]) -> Self {
        let mut compiler = Self {
            scopes: Vec::new(),
            program: Program::default(),
            done: Vec::new(),
            builtins: HashMap::new(),
            globals,
        };
        compiler.open(0);
        compiler
    }

    /// Makes the code of the main expression and links everything.
    pub(super) fn finish(mut self, body: &Ast) -> Compiled<Program> {
        self.expr(body)?;
        self.close();
        let mut program = self.program;
        for (function, code) in program.functions.iter_mut().zip(self.done) {
            let base = index(program.code.len());
            function.entry = base;
            for (at, op) in code.iter().enumerate() {
                if let Op::Call(call) = op {
                    let tail = returns(&code, at + 1);
                    if let Some(call) = program.calls.get_mut(*call as usize) {
                        call.tail = tail && may_drop_frame(call);
                    }
                }
            }
            program
                .code
                .extend(code.into_iter().map(|op| link(op, base)));
        }
        Ok(program)
    }

    fn open(&mut self, params: u32) -> u32 {
        let function = index(self.program.functions.len());
        self.program.functions.push(Function::default());
        self.done.push(Vec::new());
        self.scopes.push(Scope {
            function,
            params,
            ..Scope::default()
        });
        function
    }

    fn close(&mut self) {
        self.emit(Op::Ret);
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        let at = scope.function as usize;
        if let Some(function) = self.program.functions.get_mut(at) {
            function.params = scope.params;
            function.slots = scope.slots;
        }
        if let Some(code) = self.done.get_mut(at) {
            *code = scope.code;
        }
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        let code = &mut self.scope().code;
        code.push(op);
        code.len() - 1
    }

    pub(super) fn here(&mut self) -> u32 {
        index(self.scope().code.len())
    }

    /// Sets the target of a jump to the next instruction.
    pub(super) fn land(&mut self, at: usize) {
        let here = self.here();
        if let Some(op) = self.scope().code.get_mut(at) {
            *op = retarget(*op, here);
        }
    }

    pub(super) fn constant(&mut self, value: Value) -> u32 {
        self.program.consts.push(value);
        index(self.program.consts.len() - 1)
    }

    pub(super) fn slot(&mut self) -> Slot {
        let scope = self.scope();
        scope.slots += 1;
        Slot {
            level: 0,
            index: scope.slots - 1,
        }
    }

    pub(super) fn bind(&mut self, name: &Text, what: What) {
        let name = name.clone();
        self.scope().bindings.push(Binding { name, what });
    }

    pub(super) fn bindings(&mut self) -> &mut Vec<Binding> {
        &mut self.scope().bindings
    }

    /// Finds a name: how many frames out, and what it is.
    fn find(&self, name: &Text, test: impl Fn(What) -> bool) -> Option<(u32, What)> {
        self.scopes
            .iter()
            .rev()
            .zip(0..)
            .find_map(|(scope, level)| {
                scope
                    .bindings
                    .iter()
                    .rev()
                    .find(|binding| binding.name == *name && test(binding.what))
                    .map(|binding| (level, binding.what))
            })
    }

    pub(super) fn variable(&self, name: &Text, line: usize) -> Compiled<Result<Slot, Value>> {
        if let Some((level, What::Var(index))) = self.find(name, |w| matches!(w, What::Var(_))) {
            return Ok(Ok(Slot { level, index }));
        }
        match self.globals.iter().rev().find(|(global, _)| global == name) {
            Some((_, value)) => Ok(Err(value.clone())),
            None => Err(undefined(format!("${}", name.as_str()), line)),
        }
    }

    pub(super) fn label(&self, name: &Text) -> Compiled<Slot> {
        match self.find(name, |what| matches!(what, What::Label(_))) {
            Some((level, What::Label(index))) => Ok(Slot { level, index }),
            _ => Err(undefined(format!("$*label-{}", name.as_str()), 1)),
        }
    }

    /// Makes the code of a definition and binds its name for what follows.
    pub(super) fn def(&mut self, def: &Def) -> Compiled<()> {
        let function = self.open(index(def.params.len()));
        let scope = self.scopes.pop();
        self.bind(
            &def.name,
            What::Function {
                function,
                arity: def.params.len(),
            },
        );
        self.scopes.extend(scope);
        let mut values = Vec::new();
        for (param, at) in def.params.iter().zip(0..) {
            self.bind(&param.name, What::Param(at));
            if param.value {
                values.push((param, at));
            }
        }
        for (param, at) in values {
            let slot = self.slot();
            let target = Target::Param(Slot {
                level: 0,
                index: at,
            });
            self.emit(Op::Dup);
            self.sub(|compiler| {
                compiler.call_target(target, Vec::new());
                Ok(())
            })?;
            self.emit(Op::Pop);
            self.emit(Op::Store(slot));
            self.bind(&param.name, What::Var(slot.index));
        }
        self.expr(&def.body)?;
        self.close();
        Ok(())
    }

    pub(super) fn defs(&mut self, defs: &[Arc<Def>]) -> Compiled<()> {
        defs.iter().try_for_each(|def| self.def(def))
    }

    fn call_target(&mut self, target: Target, args: Vec<Target>) {
        self.program.calls.push(Call {
            target,
            args,
            tail: false,
        });
        let call = index(self.program.calls.len() - 1);
        self.emit(Op::Call(call));
    }

    /// Evaluates beside the input: the result goes under it, and paths are not followed.
    pub(super) fn sub(&mut self, make: impl FnOnce(&mut Self) -> Compiled<()>) -> Compiled<()> {
        self.emit(Op::SubBegin);
        make(self)?;
        self.emit(Op::SubEnd);
        Ok(())
    }

    pub(super) fn sub_expr(&mut self, ast: &Ast) -> Compiled<()> {
        match ast {
            Ast::Identity => {
                self.emit(Op::Dup);
                Ok(())
            }
            Ast::Const(value) => {
                let constant = self.constant(value.clone());
                self.emit(Op::SubConst(constant));
                Ok(())
            }
            Ast::Var(name, line) => {
                match self.variable(name, *line)? {
                    Ok(slot) => self.emit(Op::SubLoad(slot)),
                    Err(value) => {
                        let constant = self.constant(value);
                        self.emit(Op::SubConst(constant))
                    }
                };
                Ok(())
            }
            _ => self.sub(|compiler| compiler.expr(ast)),
        }
    }

    pub(super) fn expr(&mut self, ast: &Ast) -> Compiled<()> {
        match ast {
            Ast::Identity => {}
            Ast::Recurse => self.call(&Text::from("recurse"), &[], 1)?,
            Ast::Const(value) => {
                let constant = self.constant(value.clone());
                self.emit(Op::Const(constant));
            }
            Ast::Format(name) => {
                let constant = self.constant(Value::String(name.clone()));
                self.emit(Op::Format(constant));
            }
            Ast::Str(format, parts) => self.string(format.as_ref(), parts)?,
            Ast::Path(first, suffixes) => self.path(first, suffixes)?,
            Ast::Try(body, handler) => self.attempt(body, handler.as_deref())?,
            Ast::Array(items) => self.array(items.as_deref())?,
            Ast::Object(members) => self.object(members)?,
            Ast::Negate(inner) => {
                self.sub_expr(inner)?;
                self.emit(Op::Pop);
                self.emit(Op::Negate);
            }
            Ast::Pipe(stages) => stages.iter().try_for_each(|stage| self.expr(stage))?,
            Ast::Comma(items) => self.comma(items)?,
            Ast::Chain(first, rest) => self.chain(first, rest)?,
            Ast::And(items) => self.logic(items, false)?,
            Ast::Or(items) => self.logic(items, true)?,
            Ast::Alternative(first, second) => {
                self.alternative(first, |compiler| compiler.expr(second))?
            }
            Ast::Assign(assign, left, right) => self.assign(*assign, left, right)?,
            Ast::If(branches, otherwise) => self.branches(branches, otherwise.as_deref())?,
            Ast::Reduce(fold) => self.reduce(fold)?,
            Ast::Foreach(fold) => self.foreach(fold)?,
            Ast::Defs(defs, body) => {
                let before = self.bindings().len();
                self.defs(defs)?;
                self.expr(body)?;
                self.bindings().truncate(before);
            }
            Ast::Bind(source, patterns, body) => {
                self.emit(Op::Dup);
                self.sub_expr(source)?;
                self.emit(Op::Pop);
                self.patterns(patterns, |compiler| compiler.expr(body))?;
            }
            Ast::Label(name, body) => {
                let slot = self.slot();
                self.emit(Op::Label(slot));
                self.bind(name, What::Label(slot.index));
                self.expr(body)?;
                self.bindings().pop();
            }
            Ast::Break(name) => {
                let slot = self.label(name)?;
                self.emit(Op::Break(slot));
            }
            Ast::Call(name, args, line) => self.call(name, args, *line)?,
            Ast::Var(name, line) => {
                match self.variable(name, *line)? {
                    Ok(slot) => self.emit(Op::Load(slot)),
                    Err(value) => {
                        let constant = self.constant(value);
                        self.emit(Op::Const(constant))
                    }
                };
            }
            Ast::Location(line) => {
                let place = Value::object([
                    (Text::from("file"), Value::string(b"<top-level>")),
                    (Text::from("line"), Value::count(*line)),
                ]);
                let constant = self.constant(place);
                self.emit(Op::Const(constant));
            }
        }
        Ok(())
    }

    /// Calls what a name stands for: a definition, a parameter, a builtin.
    fn call(&mut self, name: &Text, args: &[Ast], line: usize) -> Compiled<()> {
        let arity = args.len();
        let found = self.find(name, |what| match what {
            What::Function { arity: theirs, .. } => theirs == arity,
            What::Param(_) => arity == 0,
            _ => false,
        });
        let target = match found {
            Some((level, What::Param(index))) => Target::Param(Slot { level, index }),
            Some((level, What::Function { function, .. })) => Target::Function(function, level),
            _ => {
                if self.inline(name.as_str(), args)? {
                    return Ok(());
                }
                if let Some(id) = native::find(name, arity) {
                    for arg in args.iter().rev() {
                        self.sub_expr(arg)?;
                    }
                    let count = u8::try_from(arity).unwrap_or(u8::MAX);
                    self.emit(Op::Native(id, count));
                    return Ok(());
                }
                self.builtin(name, arity, line)?
            }
        };
        let mut closures = Vec::with_capacity(arity);
        for arg in args {
            closures.push(self.closure(arg)?);
        }
        self.call_target(target, closures);
        Ok(())
    }

    /// Makes a closure; one that only names a parameter is handed on as it is.
    fn closure(&mut self, arg: &Ast) -> Compiled<Target> {
        if let Ast::Call(name, args, _) = arg
            && args.is_empty()
            && let Some((level, what)) = self.find(name, |what| {
                matches!(what, What::Param(_) | What::Function { arity: 0, .. })
            })
        {
            match what {
                What::Param(index) => return Ok(Target::Param(Slot { level, index })),
                What::Function { function, .. } => return Ok(Target::Function(function, level)),
                What::Var(_) | What::Label(_) => {}
            }
        }
        let function = self.open(0);
        self.expr(arg)?;
        self.close();
        Ok(Target::Function(function, 0))
    }

    /// Finds a function of the prelude, and makes its code when it is first used.
    fn builtin(&mut self, name: &Text, arity: usize, line: usize) -> Compiled<Target> {
        let level = index(self.scopes.len().saturating_sub(1));
        if let Some(function) = self.builtins.get(&(name.clone(), arity)) {
            return Ok(Target::Function(*function, level));
        }
        let Some(def) = prelude::find(name, arity) else {
            return Err(undefined(format!("{}/{arity}", name.as_str()), line));
        };
        let function = index(self.program.functions.len());
        self.builtins.insert((name.clone(), arity), function);
        // Its code sees nothing of the program: only the outermost frame, without its names.
        let inner = self.scopes.split_off(1);
        let names = std::mem::take(&mut self.scope().bindings);
        let result = self.def(&def);
        self.scope().bindings = names;
        self.scopes.extend(inner);
        result.map(|()| Target::Function(function, level))
    }

    /// Makes code in place for builtins that are no functions, or are too common to be called.
    fn inline(&mut self, name: &str, args: &[Ast]) -> Compiled<bool> {
        match (name, args) {
            ("empty", []) => {
                self.emit(Op::Backtrack);
            }
            ("error", []) => {
                self.emit(Op::Error);
            }
            ("error", [message]) => {
                self.sub_expr(message)?;
                self.emit(Op::Pop);
                self.emit(Op::Error);
            }
            ("path", [inner]) => {
                self.emit(Op::PathBegin);
                self.expr(inner)?;
                self.emit(Op::PathEnd);
            }
            ("getpath", [path]) => {
                self.sub_expr(path)?;
                self.emit(Op::GetPath);
            }
            ("map", [inner]) => self.collect(|compiler| {
                compiler.emit(Op::Each);
                compiler.expr(inner)
            })?,
            ("select", [test]) => {
                self.sub_expr(test)?;
                let skip = self.emit(Op::JumpFalse(0));
                let over = self.emit(Op::Jump(0));
                self.land(skip);
                self.emit(Op::Backtrack);
                self.land(over);
            }
            ("first", [inner]) => self.first(|compiler| compiler.expr(inner))?,
            ("map_values", [inner]) => {
                let each = Ast::Path(Box::new(Ast::Identity), vec![Suffix::Each]);
                self.update(&each, |compiler| compiler.expr(inner))?;
            }
            ("range", [to]) => self.range(&Ast::Const(Value::Number(0.0)), to)?,
            ("range", [from, to]) => self.range(from, to)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn range(&mut self, from: &Ast, to: &Ast) -> Compiled<()> {
        let (low, high) = (self.slot(), self.slot());
        for (slot, ast) in [(low, from), (high, to)] {
            self.emit(Op::Dup);
            self.sub_expr(ast)?;
            self.emit(Op::Pop);
            self.emit(Op::Store(slot));
        }
        // The counter is a copy: the next upper bound starts from the same lower one.
        let counter = self.slot();
        self.emit(Op::Dup);
        self.emit(Op::Load(low));
        self.emit(Op::Store(counter));
        self.emit(Op::Range(counter, high));
        Ok(())
    }

    /// Takes the first result only, and backtracks if there is none.
    fn first(&mut self, make: impl FnOnce(&mut Self) -> Compiled<()>) -> Compiled<()> {
        let slot = self.slot();
        let mark = self.emit(Op::Mark(slot, 0));
        make(self)?;
        self.emit(Op::Cut(slot));
        let over = self.emit(Op::Jump(0));
        self.land(mark);
        self.emit(Op::Backtrack);
        self.land(over);
        Ok(())
    }
}

pub(super) fn undefined(name: String, line: usize) -> CompileError {
    CompileError {
        message: format!("{name} is not defined"),
        line,
    }
}

/// Converts a count of code; a program is far smaller than 4 GiB.
pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
