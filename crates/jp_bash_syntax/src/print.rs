//! A script as text again, in bash's layout of `declare -f`. Knows the tree only.

use crate::ast::{
    AndOr, Arith, CaseEnd, Command, CommandKind, Function, If, Item, Pipeline, Timed, Word,
};
use crate::names::{Name, Names};

/// Returns a function as `declare -f` prints it, with a newline at the end.
pub fn print_function(function: &Function, names: &Names) -> Vec<u8> {
    let mut printer = Printer::new(names);
    printer.function_body(function, b"");
    printer.out.push(b'\n');
    printer.out
}

/// Returns a command as `BASH_COMMAND` and `jobs` show it.
pub fn print_command(command: &Command, names: &Names) -> Vec<u8> {
    let mut printer = Printer::new(names);
    printer.command(command);
    printer.flush_docs(b"");
    printer.out
}

/// Returns commands on one line, as within `$( … )`.
pub(super) fn print_list(list: &[Item], names: &Names) -> Vec<u8> {
    let mut printer = Printer::new(names);
    printer.skip_indent = true;
    printer.list(list);
    printer.flush_docs(b"");
    printer.out
}

/// What is printed so far, and how to go on.
pub(super) struct Printer<'a> {
    pub(super) out: Vec<u8>,
    pub(super) names: &'a Names,
    /// Here-documents whose bodies follow the line.
    pub(super) docs: Vec<Vec<u8>>,
    indent: usize,
    /// The next command goes on in this line.
    skip_indent: bool,
    /// Functions around this place: only within one do lists take several lines.
    functions: usize,
    /// Bodies of here-documents were just printed, so no `;` may follow.
    after_doc: bool,
}

impl<'a> Printer<'a> {
    fn new(names: &'a Names) -> Self {
        Self {
            out: Vec::new(),
            names,
            docs: Vec::new(),
            indent: 0,
            skip_indent: false,
            functions: 0,
            after_doc: false,
        }
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    pub(super) fn name(&mut self, name: Name) {
        let text = self.names.text(name);
        self.text(&text);
    }

    fn indentation(&mut self) {
        self.out.resize(self.out.len() + self.indent, b' ');
    }

    fn newline(&mut self, text: &[u8]) {
        self.out.push(b'\n');
        self.indentation();
        self.text(text);
    }

    fn semicolon(&mut self) {
        if !matches!(self.out.last(), Some(b'&' | b'\n')) {
            self.out.push(b';');
        }
    }

    /// Prints the bodies of here-documents, after what ends their line.
    fn flush_docs(&mut self, end: &[u8]) {
        if end != b";" {
            self.text(end);
        }
        if self.docs.is_empty() {
            return;
        }
        self.out.push(b'\n');
        for doc in std::mem::take(&mut self.docs) {
            self.text(&doc);
            self.out.push(b'\n');
        }
        self.after_doc = true;
    }

    fn start_command(&mut self) {
        if !std::mem::take(&mut self.skip_indent) {
            self.indentation();
        }
    }

    fn list(&mut self, list: &[Item]) {
        for (index, item) in list.iter().enumerate() {
            self.item(item);
            let last = index + 1 == list.len();
            if item.background {
                self.flush_docs(b" &");
                if !last {
                    self.out.push(b' ');
                    self.skip_indent = true;
                }
            } else if !last {
                self.end_of_item();
            }
        }
    }

    fn end_of_item(&mut self) {
        if !self.docs.is_empty() {
            let end: &[u8] = if self.functions > 0 { b"" } else { b";" };
            self.flush_docs(end);
            self.after_doc = false;
        } else if !std::mem::take(&mut self.after_doc) {
            self.out.push(b';');
        }
        if self.functions > 0 {
            self.out.push(b'\n');
        } else {
            self.out.push(b' ');
            self.skip_indent = true;
        }
    }

    fn item(&mut self, item: &Item) {
        self.pipeline(&item.first);
        for (and_or, pipeline) in &item.rest {
            self.flush_docs(match and_or {
                AndOr::And => b" && ",
                AndOr::Or => b" || ",
            });
            self.skip_indent = true;
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.start_command();
        match pipeline.timed {
            Some(Timed::Plain) => self.text(b"time "),
            Some(Timed::Posix) => self.text(b"time -p "),
            None => {}
        }
        if pipeline.negated {
            self.text(b"! ");
        }
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                // bash indents by one more after the bodies.
                let more: &[u8] = if self.docs.is_empty() { b" " } else { b"  " };
                self.flush_docs(b" |");
                self.text(more);
            }
            self.skip_indent = true;
            self.command(command);
        }
        self.skip_indent = false;
    }

    /// Prints a command with its redirections.
    fn command(&mut self, command: &Command) {
        self.start_command();
        self.kind(&command.kind);
        for (index, redirect) in command.redirects.iter().enumerate() {
            let bare = index == 0
                && matches!(&command.kind, CommandKind::Simple(simple)
                    if simple.words.is_empty() && simple.assigns.is_empty());
            if !bare {
                self.out.push(b' ');
            }
            self.redirect(redirect);
        }
    }

    fn kind(&mut self, kind: &CommandKind) {
        match kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Group(list) => self.group(list),
            CommandKind::Subshell(list) => {
                self.text(b"( ");
                self.skip_indent = true;
                self.list(list);
                self.flush_docs(b"");
                self.text(b" )");
            }
            CommandKind::If(node) => self.if_command(node, 0),
            CommandKind::While {
                until,
                condition,
                body,
            } => {
                self.text(if *until { b"until " } else { b"while " });
                self.skip_indent = true;
                self.list(condition);
                self.flush_docs(b"");
                self.semicolon();
                self.text(b" do\n");
                self.body(body, b"done");
            }
            CommandKind::For {
                name, words, body, ..
            } => self.loop_command(b"for ", *name, words.as_deref(), body),
            CommandKind::Select { name, words, body } => {
                self.loop_command(b"select ", *name, words.as_deref(), body);
            }
            CommandKind::ForArith {
                init,
                test,
                step,
                body,
            } => {
                self.text(b"for ((");
                self.for_part(init.as_deref());
                self.text(b"; ");
                self.for_part(test.as_deref());
                self.text(b"; ");
                self.for_part(step.as_deref());
                self.text(b"))");
                self.newline(b"do\n");
                self.body(body, b"done");
            }
            CommandKind::Case { subject, arms } => {
                self.text(b"case ");
                self.word(subject);
                self.text(b" in ");
                self.indent += 4;
                for arm in arms {
                    self.newline(b"");
                    self.words(&arm.patterns, b" | ");
                    self.text(b")\n");
                    self.indent += 4;
                    self.list(&arm.body);
                    self.indent -= 4;
                    self.flush_docs(b"");
                    self.newline(match arm.end {
                        CaseEnd::Break => b";;",
                        CaseEnd::FallThrough => b";&",
                        CaseEnd::TestNext => b";;&",
                    });
                }
                self.indent -= 4;
                self.newline(b"esac");
            }
            CommandKind::Arith(arith) => {
                self.text(b"((");
                self.text(&arith.text);
                self.text(b"))");
            }
            CommandKind::Test(test) => {
                self.text(b"[[ ");
                self.test(test);
                self.text(b" ]]");
            }
            CommandKind::Function(function) => self.function_body(function, b"function "),
            CommandKind::Coproc { name, body } => {
                self.text(b"coproc ");
                self.name(*name);
                self.out.push(b' ');
                self.skip_indent = true;
                self.command(body);
            }
        }
    }

    fn for_part(&mut self, part: Option<&Arith>) {
        match part {
            Some(arith) => self.text(arith.text.trim_ascii_start()),
            None => self.text(b"1"),
        }
    }

    fn loop_command(&mut self, word: &[u8], name: Name, words: Option<&[Word]>, body: &[Item]) {
        self.text(word);
        self.name(name);
        self.text(b" in ");
        match words {
            Some(words) => self.words(words, b" "),
            None => self.text(b"\"$@\""),
        }
        self.text(b";");
        self.newline(b"do\n");
        self.body(body, b"done");
    }

    /// Prints an indented list and the word that ends it.
    fn body(&mut self, list: &[Item], end: &[u8]) {
        self.indent += 4;
        self.list(list);
        self.flush_docs(b"");
        self.indent -= 4;
        self.semicolon();
        self.newline(end);
    }

    /// Prints `if`; `elif` is an `if` within `else`, as in bash.
    fn if_command(&mut self, node: &If, arm: usize) {
        let Some((condition, body)) = node.arms.get(arm) else {
            return;
        };
        self.text(b"if ");
        self.skip_indent = true;
        self.list(condition);
        self.semicolon();
        self.text(b" then\n");
        self.indent += 4;
        self.list(body);
        self.flush_docs(b"");
        self.indent -= 4;
        let more = arm + 1 < node.arms.len();
        if more || node.otherwise.is_some() {
            self.semicolon();
            self.newline(b"else\n");
            self.indent += 4;
            match &node.otherwise {
                _ if more => {
                    self.indentation();
                    self.if_command(node, arm + 1);
                }
                Some(list) => self.list(list),
                None => {}
            }
            self.flush_docs(b"");
            self.indent -= 4;
        }
        self.semicolon();
        self.newline(b"fi");
    }

    fn group(&mut self, list: &[Item]) {
        self.text(b"{ ");
        if self.functions == 0 {
            self.skip_indent = true;
            self.list(list);
            self.flush_docs(b"");
            self.semicolon();
            self.text(b" }");
            return;
        }
        self.out.push(b'\n');
        self.indent += 4;
        self.list(list);
        self.flush_docs(b"");
        self.indent -= 4;
        self.newline(b"}");
    }

    fn function_body(&mut self, function: &Function, word: &[u8]) {
        self.text(word);
        self.text(&function.name);
        self.text(b" () \n");
        self.indentation();
        self.text(b"{ \n");
        self.functions += 1;
        self.indent += 4;
        self.skip_indent = false;
        let is_group = match &function.body.kind {
            CommandKind::Group(list) => {
                self.list(list);
                true
            }
            _ => {
                self.command(&function.body);
                false
            }
        };
        self.flush_docs(b"");
        self.indent -= 4;
        self.functions -= 1;
        self.newline(b"}");
        if is_group {
            for redirect in &function.body.redirects {
                self.out.push(b' ');
                self.redirect(redirect);
            }
        }
    }
}
