//! `jp.lock`: which tools a workspace uses, to the byte.
