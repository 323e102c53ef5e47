//! A tree as one line of text, for tables.

use crate::ast::{
    Arg, Arith, Assign, AssignValue, BinaryOp, Command, CommandKind, Expr, Item, LValue, ParamOp,
    ParamTarget, Part, Redirect, RedirectKind, SubscriptKind, Test, Word,
};
use crate::names::Names;

/// Shows trees with the names of one session.
pub(super) struct Shape<'a>(pub(super) &'a Names);

impl Shape<'_> {
    pub(super) fn list(&self, list: &[Item]) -> String {
        let items = list.iter().map(|item| {
            let mut out = self.pipeline(&item.first);
            for (op, pipeline) in &item.rest {
                out += &format!(" {op:?} {}", self.pipeline(pipeline));
            }
            out + if item.background { " &" } else { "" }
        });
        items.collect::<Vec<_>>().join("; ")
    }

    fn pipeline(&self, pipeline: &crate::ast::Pipeline) -> String {
        let commands: Vec<_> = pipeline.commands.iter().map(|c| self.command(c)).collect();
        let bang = if pipeline.negated { "!" } else { "" };
        let time = if pipeline.timed.is_some() {
            "time "
        } else {
            ""
        };
        format!("{time}{bang}{}", commands.join(" | "))
    }

    fn command(&self, command: &Command) -> String {
        let mut out = match &command.kind {
            CommandKind::Simple(simple) => {
                let assigns = simple.assigns.iter().map(|assign| self.assign(assign));
                let words = simple.words.iter().map(|arg| match arg {
                    Arg::Word(word) => self.word(word),
                    Arg::Assign(assign) => format!("decl:{}", self.assign(assign)),
                });
                assigns.chain(words).collect::<Vec<_>>().join(" ")
            }
            CommandKind::Group(list) => format!("{{ {} }}", self.list(list)),
            CommandKind::Subshell(list) => format!("( {} )", self.list(list)),
            CommandKind::If(node) => {
                let arms = node.arms.iter();
                let arms = arms
                    .map(|(test, body)| format!("[{} -> {}]", self.list(test), self.list(body)));
                let other = node.otherwise.as_ref().map(|list| self.list(list));
                format!("if{}{:?}", arms.collect::<String>(), other)
            }
            CommandKind::While {
                until,
                condition,
                body,
            } => format!(
                "while{}[{} -> {}]",
                if *until { "!" } else { "" },
                self.list(condition),
                self.list(body)
            ),
            CommandKind::For {
                name, body, words, ..
            } => format!(
                "for {} in {} [{}]",
                self.name(*name),
                words.as_ref().map_or("-".into(), |words| self.words(words)),
                self.list(body)
            ),
            CommandKind::Select { name, body, .. } => {
                format!("select {} [{}]", self.name(*name), self.list(body))
            }
            CommandKind::ForArith {
                init,
                test,
                step,
                body,
            } => {
                let part =
                    |part: &Option<Box<Arith>>| part.as_ref().map_or("-".into(), |a| self.arith(a));
                format!(
                    "for(({};{};{})) [{}]",
                    part(init),
                    part(test),
                    part(step),
                    self.list(body)
                )
            }
            CommandKind::Case { subject, arms } => {
                let arms = arms.iter().map(|arm| {
                    format!(
                        "[{} -> {} {:?}]",
                        self.words(&arm.patterns),
                        self.list(&arm.body),
                        arm.end
                    )
                });
                format!("case {} {}", self.word(subject), arms.collect::<String>())
            }
            CommandKind::Arith(arith) => format!("(({}))", self.arith(arith)),
            CommandKind::Test(test) => format!("[[{}]]", self.test(test)),
            CommandKind::Function(function) => format!(
                "fn {} {}",
                String::from_utf8_lossy(&function.name),
                self.command(&function.body)
            ),
            CommandKind::Coproc { name, body } => {
                format!("coproc {} {}", self.name(*name), self.command(body))
            }
        };
        for redirect in &command.redirects {
            out += &format!(" {}", self.redirect(redirect));
        }
        out
    }

    fn redirect(&self, redirect: &Redirect) -> String {
        let (name, word) = match &redirect.kind {
            RedirectKind::Read(word) => ("<", word),
            RedirectKind::Write(word) => (">", word),
            RedirectKind::Clobber(word) => (">|", word),
            RedirectKind::Append(word) => (">>", word),
            RedirectKind::ReadWrite(word) => ("<>", word),
            RedirectKind::Both(word) => ("&>", word),
            RedirectKind::BothAppend(word) => ("&>>", word),
            RedirectKind::DupRead(word) => ("<&", word),
            RedirectKind::DupWrite(word) => (">&", word),
            RedirectKind::HereDoc(doc) => ("<<", &doc.body),
            RedirectKind::HereString(word) => ("<<<", word),
        };
        let fd = match &redirect.fd {
            crate::ast::RedirectFd::Default => String::new(),
            crate::ast::RedirectFd::Number(number) => number.to_string(),
            crate::ast::RedirectFd::Variable(name) => format!("{{{}}}", self.name(*name)),
            crate::ast::RedirectFd::Element(text) => {
                format!("{{{}}}", String::from_utf8_lossy(text))
            }
        };
        format!("{fd}{name}{}", self.word(word))
    }

    fn assign(&self, assign: &Assign) -> String {
        let mut out = self.name(assign.name);
        if let Some(subscript) = &assign.subscript {
            out += &self.subscript(&subscript.kind);
        }
        out += if assign.append { "+=" } else { "=" };
        match &assign.value {
            AssignValue::Scalar(word) => out + &self.word(word),
            AssignValue::Array(elements) => {
                let elements = elements.iter().map(|element| match &element.subscript {
                    Some(at) => self.subscript(&at.kind) + "=" + &self.word(&element.value),
                    None => self.word(&element.value),
                });
                out + &format!("({})", elements.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn subscript(&self, kind: &SubscriptKind) -> String {
        match kind {
            SubscriptKind::At => "[@]".into(),
            SubscriptKind::Star => "[*]".into(),
            SubscriptKind::Index { arith, key } => {
                format!("[{}~{}]", self.arith(arith), self.word(key))
            }
        }
    }

    fn words(&self, words: &[Word]) -> String {
        let words: Vec<_> = words.iter().map(|word| self.word(word)).collect();
        words.join(" ")
    }

    pub(super) fn word(&self, word: &Word) -> String {
        let parts: Vec<_> = word.parts.iter().map(|part| self.part(part)).collect();
        parts.join(".")
    }

    fn part(&self, part: &Part) -> String {
        let text = |text: &[u8]| text.escape_ascii().to_string();
        match part {
            Part::Literal(bytes) => text(bytes),
            Part::Quoted(bytes) => format!("'{}'", text(bytes)),
            Part::Double(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.part(part)).collect();
                format!("\"{}\"", parts.join("."))
            }
            Part::Tilde(bytes) => format!("~<{}>", text(bytes)),
            Part::Param(param) => self.param(param),
            Part::Command(sub) => format!("$({})", self.list(&sub.list)),
            Part::Arith(arith) => format!("$(({}))", self.arith(arith)),
            Part::ProcessIn(list) => format!("<({})", self.list(list)),
            Part::ProcessOut(list) => format!(">({})", self.list(list)),
            Part::Braces(words) => {
                let words: Vec<_> = words.iter().map(|word| self.word(word)).collect();
                format!("{{{}}}", words.join(","))
            }
            Part::BraceRange(range) => format!(
                "{{{}..{}..{}w{}{}}}",
                range.from,
                range.to,
                range.step,
                range.width,
                if range.letters { "L" } else { "" }
            ),
            Part::ExtGlob { kind, alternatives } => {
                let words: Vec<_> = alternatives.iter().map(|word| self.word(word)).collect();
                format!("{}({})", char::from(*kind), words.join("|"))
            }
        }
    }

    fn param(&self, param: &crate::ast::Param) -> String {
        let mut out = String::from(if param.indirect { "${!" } else { "${" });
        out += &match &param.target {
            ParamTarget::Name(name) => self.name(*name),
            ParamTarget::Position(number) => number.to_string(),
            ParamTarget::Special(byte) => char::from(*byte).to_string(),
        };
        if let Some(subscript) = &param.subscript {
            out += &self.subscript(&subscript.kind);
        }
        out += &match &param.op {
            ParamOp::None => String::new(),
            ParamOp::Default { colon, word } => format!(" default {colon} {}", self.word(word)),
            ParamOp::AssignDefault { word, .. } => format!(" assign {}", self.word(word)),
            ParamOp::Error { word, .. } => {
                format!(
                    " error {}",
                    word.as_ref().map_or("-".into(), |word| self.word(word))
                )
            }
            ParamOp::Alternative { word, .. } => format!(" alt {}", self.word(word)),
            ParamOp::Substring { offset, length } => {
                let length = length
                    .as_ref()
                    .map_or("-".into(), |length| self.arith(length));
                format!(" sub {} {length}", self.arith(offset))
            }
            ParamOp::RemovePrefix { longest, pattern } => {
                format!(" prefix {longest} {}", self.word(pattern))
            }
            ParamOp::RemoveSuffix { longest, pattern } => {
                format!(" suffix {longest} {}", self.word(pattern))
            }
            ParamOp::Replace { how, pattern, with } => {
                format!(
                    " replace {how:?} {} {}",
                    self.word(pattern),
                    self.word(with)
                )
            }
            ParamOp::Case { how, all, pattern } => {
                let pattern = pattern.as_ref().map_or("-".into(), |word| self.word(word));
                format!(" case {how:?} {all} {pattern}")
            }
            other => format!(" {other:?}"),
        };
        out + "}"
    }

    fn arith(&self, arith: &Arith) -> String {
        match &arith.expr {
            Some(expr) => self.expr(expr),
            None => format!("text<{}>", self.word(&arith.word)),
        }
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        let pair = |name: &str, left: &Expr, right: &Expr| {
            format!("({name} {} {})", self.expr(left), self.expr(right))
        };
        match expr {
            Expr::Number(value) => value.to_string(),
            Expr::Variable(target) => self.target(target),
            Expr::Expansion(part) => self.part(part),
            Expr::Unary(op, inner) => format!("({op:?} {})", self.expr(inner)),
            Expr::Binary(op, left, right) => pair(&format!("{op:?}"), left, right),
            Expr::And(left, right) => pair("&&", left, right),
            Expr::Or(left, right) => pair("||", left, right),
            Expr::Comma(left, right) => pair(",", left, right),
            Expr::Ternary(test, yes, no) => {
                format!(
                    "(? {} {} {})",
                    self.expr(test),
                    self.expr(yes),
                    self.expr(no)
                )
            }
            Expr::Assign(target, op, value) => {
                let op = op.map_or(String::new(), |op: BinaryOp| format!("{op:?}"));
                format!("({op}= {} {})", self.target(target), self.expr(value))
            }
            Expr::Step { target, by, prefix } => {
                let place = if *prefix { "pre" } else { "post" };
                format!("({place}{by:+} {})", self.target(target))
            }
        }
    }

    fn target(&self, target: &LValue) -> String {
        let subscript = target.subscript.as_ref();
        self.name(target.name) + &subscript.map_or(String::new(), |at| self.subscript(&at.kind))
    }

    fn test(&self, test: &Test) -> String {
        match test {
            Test::Word(word) => self.word(word),
            Test::Unary(letter, word) => format!("-{} {}", char::from(*letter), self.word(word)),
            Test::Binary(op, left, right) => {
                format!("{op:?} {} {}", self.word(left), self.word(right))
            }
            Test::Not(inner) => format!("!({})", self.test(inner)),
            Test::And(left, right) => format!("({} && {})", self.test(left), self.test(right)),
            Test::Or(left, right) => format!("({} || {})", self.test(left), self.test(right)),
        }
    }

    fn name(&self, name: crate::names::Name) -> String {
        String::from_utf8_lossy(&self.0.text(name)).into_owned()
    }
}
