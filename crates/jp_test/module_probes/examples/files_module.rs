//! Does a list of file operations and reports each, as a module of the ABI with WASI preview 1.

use jp_probes::files;
use jp_tool_brokered::module;

module!(|input| files::reports(&String::from_utf8_lossy(input)).into_bytes());
