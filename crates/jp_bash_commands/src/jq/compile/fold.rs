//! Assignments, `reduce` and `foreach`: what goes over paths or values one by one.

use super::{Compiled, Compiler};
use crate::jq::ast::{Assign, Ast, Loop};
use crate::jq::code::{Op, Slot};
use crate::jq::value::Value;

impl Compiler<'_> {
    pub(super) fn assign(&mut self, assign: Assign, left: &Ast, right: &Ast) -> Compiled<()> {
        if assign == Assign::Update {
            return self.update(left, |compiler| compiler.expr(right));
        }
        // The right side is evaluated on the input, and each of its values gives one result.
        let value = self.slot();
        self.emit(Op::Dup);
        self.sub_expr(right)?;
        self.emit(Op::Pop);
        self.emit(Op::Store(value));
        match assign {
            Assign::Set | Assign::Update => self.set(left, value),
            Assign::Alternative => self.update(left, |compiler| {
                compiler.alternative(&Ast::Identity, |compiler| {
                    compiler.emit(Op::Load(value));
                    Ok(())
                })
            }),
            Assign::Arithmetic(binary) => self.update(left, |compiler| {
                compiler.emit(Op::SubLoad(value));
                compiler.emit(Op::BinaryTop(binary));
                Ok(())
            }),
        }
    }

    pub(super) fn set(&mut self, left: &Ast, value: Slot) -> Compiled<()> {
        let (state, path) = (self.slot(), self.slot());
        self.emit(Op::SubBegin);
        self.emit(Op::Dup);
        self.emit(Op::Store(state));
        let end = self.emit(Op::Fork(0));
        self.emit(Op::PathBegin);
        self.expr(left)?;
        self.emit(Op::PathEnd);
        self.emit(Op::Dup);
        self.emit(Op::Store(path));
        self.emit(Op::Load(value));
        self.emit(Op::SetPath(state, path));
        self.land(end);
        self.emit(Op::Take(state));
        self.emit(Op::SubEnd);
        self.emit(Op::Pop);
        Ok(())
    }

    /// `left |= make`: the first result replaces each value; where there is none, the path is deleted.
    pub(super) fn update(
        &mut self,
        left: &Ast,
        make: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let (state, path, gone, mark) = (self.slot(), self.slot(), self.slot(), self.slot());
        let empty = self.constant(Value::array(Vec::new()));
        self.emit(Op::SubBegin);
        self.emit(Op::Dup);
        self.emit(Op::Const(empty));
        self.emit(Op::Store(gone));
        self.emit(Op::Dup);
        self.emit(Op::Store(state));
        let end = self.emit(Op::Fork(0));
        self.emit(Op::PathBegin);
        self.expr(left)?;
        self.emit(Op::PathEnd);
        self.emit(Op::Dup);
        self.emit(Op::Store(path));
        let none = self.emit(Op::Mark(mark, 0));
        self.emit(Op::SubLoad(path));
        self.emit(Op::Load(state));
        self.emit(Op::GetPath);
        make(self)?;
        self.emit(Op::Cut(mark));
        self.emit(Op::SetPath(state, path));
        self.land(none);
        self.emit(Op::Push(gone, path));
        self.emit(Op::Backtrack);
        self.land(end);
        self.emit(Op::Take(state));
        self.emit(Op::DeletePaths(gone));
        self.emit(Op::SubEnd);
        self.emit(Op::Pop);
        Ok(())
    }

    /// Computes the first state of a fold and starts its source; returns the state's slot and the fork that is
    /// taken when the source has no more.
    fn fold_head(&mut self, fold: &Loop) -> Compiled<(Slot, usize)> {
        let state = self.slot();
        self.emit(Op::Dup);
        self.expr(&fold.init)?;
        self.emit(Op::Store(state));
        let end = self.emit(Op::Fork(0));
        self.emit(Op::Dup);
        self.expr(&fold.source)?;
        Ok((state, end))
    }

    pub(super) fn reduce(&mut self, fold: &Loop) -> Compiled<()> {
        let (state, end) = self.fold_head(fold)?;
        self.patterns(&fold.patterns, |compiler| {
            compiler.emit(Op::Take(state));
            compiler.expr(&fold.update)?;
            compiler.emit(Op::Store(state));
            compiler.emit(Op::Backtrack);
            Ok(())
        })?;
        self.land(end);
        self.emit(Op::Take(state));
        Ok(())
    }

    pub(super) fn foreach(&mut self, fold: &Loop) -> Compiled<()> {
        let (state, end) = self.fold_head(fold)?;
        self.patterns(&fold.patterns, |compiler| {
            compiler.emit(Op::Take(state));
            compiler.expr(&fold.update)?;
            compiler.emit(Op::Dup);
            compiler.emit(Op::Store(state));
            fold.extract
                .as_ref()
                .map_or(Ok(()), |extract| compiler.expr(extract))
        })?;
        let over = self.emit(Op::Jump(0));
        self.land(end);
        self.emit(Op::Backtrack);
        self.land(over);
        Ok(())
    }
}
