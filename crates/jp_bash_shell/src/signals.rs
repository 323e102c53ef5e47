//! Names and numbers of signals, and of the pseudo-signals of `trap`.

/// `trap … EXIT`
pub(crate) const EXIT: u8 = 0;
pub(crate) const INT: u8 = 2;
pub(crate) const QUIT: u8 = 3;
pub(crate) const KILL: u8 = 9;
pub(crate) const PIPE: u8 = 13;
pub(crate) const TERM: u8 = 15;
pub(crate) const CHLD: u8 = 17;
pub(crate) const CONT: u8 = 18;
pub(crate) const STOP: u8 = 19;
/// Behind the last real signal.
pub(crate) const DEBUG: u8 = 65;
pub(crate) const ERR: u8 = 66;
pub(crate) const RETURN: u8 = 67;
/// One more than the last.
pub(crate) const COUNT: u8 = 68;

const NAMES: &[&str] = &[
    "EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
    "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// What bash prints when a signal ends a job.
const TEXTS: &[&str] = &[
    "Done",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
];

/// Returns the name without `SIG`.
pub(crate) fn name(signal: u8) -> Option<String> {
    if let Some(name) = NAMES.get(usize::from(signal)) {
        return Some((*name).to_owned());
    }
    match signal {
        34 => Some("RTMIN".to_owned()),
        35..=49 => Some(format!("RTMIN+{}", signal - 34)),
        50..=63 => Some(format!("RTMAX-{}", 64 - signal)),
        64 => Some("RTMAX".to_owned()),
        DEBUG => Some("DEBUG".to_owned()),
        ERR => Some("ERR".to_owned()),
        RETURN => Some("RETURN".to_owned()),
        _ => None,
    }
}

/// Returns the text for a job that a signal ended.
pub(crate) fn text(signal: u8) -> String {
    TEXTS.get(usize::from(signal)).map_or_else(
        || format!("Unknown signal #{signal}"),
        |text| (*text).to_owned(),
    )
}

/// Finds a signal by number or name, with or without `SIG`, in any case; pseudo-signals too.
pub(crate) fn parse(text: &[u8]) -> Option<u8> {
    if text.first().is_some_and(u8::is_ascii_digit) {
        let number: u8 = std::str::from_utf8(text).ok()?.parse().ok()?;
        return (number <= 64 && number != 32 && number != 33).then_some(number);
    }
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_prefix(b"SIG").unwrap_or(&upper);
    match bare {
        b"CLD" => return Some(CHLD),
        b"POLL" => return Some(29),
        b"IOT" => return Some(6),
        _ => {}
    }
    (0..COUNT).find(|signal| {
        name(*signal).is_some_and(|name| {
            // `SIGEXIT` is fine for bash, `SIGERR` and `SIGDEBUG` too.
            name.as_bytes() == bare
        })
    })
}

/// Tells whether the signal's default action is to end the process.
pub(crate) fn is_fatal(signal: u8) -> bool {
    !matches!(signal, 0 | 17 | 18 | 23 | 28) && !stops(signal) && signal < DEBUG
}

/// Tells whether the signal's default action is to stop the process.
pub(crate) fn stops(signal: u8) -> bool {
    matches!(signal, 19..=22)
}
