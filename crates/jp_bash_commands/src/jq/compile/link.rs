//! Repairs jumps after code was put together, and finds calls that may drop their frame.

use crate::jq::code::{Call, Op, Target};

pub(super) fn retarget(op: Op, to: u32) -> Op {
    match op {
        Op::Fork(_) => Op::Fork(to),
        Op::Jump(_) => Op::Jump(to),
        Op::JumpFalse(_) => Op::JumpFalse(to),
        Op::JumpFalsy(_) => Op::JumpFalsy(to),
        Op::JumpIfVar(slot, _) => Op::JumpIfVar(slot, to),
        Op::TryBegin(_) => Op::TryBegin(to),
        Op::AltBegin(_) => Op::AltBegin(to),
        Op::Mark(slot, _) => Op::Mark(slot, to),
        other => other,
    }
}

pub(super) fn link(op: Op, base: u32) -> Op {
    match op {
        Op::Fork(to)
        | Op::Jump(to)
        | Op::JumpFalse(to)
        | Op::JumpFalsy(to)
        | Op::JumpIfVar(_, to)
        | Op::TryBegin(to)
        | Op::AltBegin(to)
        | Op::Mark(_, to) => retarget(op, to + base),
        other => other,
    }
}

/// Tells whether nothing but jumps lies between here and the return.
pub(super) fn returns(code: &[Op], mut at: usize) -> bool {
    for _ in 0..code.len() {
        match code.get(at) {
            Some(Op::Ret) => return true,
            Some(Op::Jump(to)) => at = *to as usize,
            _ => return false,
        }
    }
    false
}

/// Tells whether a call needs nothing of its own frame.
pub(super) fn may_drop_frame(call: &Call) -> bool {
    let outside = |target: &Target| !matches!(target, Target::Function(_, 0));
    outside(&call.target) && call.args.iter().all(outside)
}
