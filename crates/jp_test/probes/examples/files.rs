//! Does a list of file operations, and reports each: see `jp_probes::files`.

use jp_probes::{files, probe};

probe!(files::run);
