//! Receipts: what was verified on this machine, and under which key.
