//! `id`: the virtual user and group.

use jp_bash_system::io::complain;
use jp_bash_system::{Stop, System};

use super::Spec;
use super::options::{Order, Takes, opt, parse, refused};
use super::say::{self, HELP, VERSION};

/// `id`
pub(crate) const SPEC: Spec = Spec {
    name: "id",
    about: "print user and group",
    run,
    options: &[
        opt('a', Some(b'a'), None, Takes::Nothing),
        opt('g', Some(b'g'), Some("group"), Takes::Nothing),
        opt('G', Some(b'G'), Some("groups"), Takes::Nothing),
        opt('n', Some(b'n'), Some("name"), Takes::Nothing),
        opt('r', Some(b'r'), Some("real"), Takes::Nothing),
        opt('u', Some(b'u'), Some("user"), Takes::Nothing),
        opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
        refused(
            Some(b'Z'),
            Some("context"),
            Takes::Nothing,
            "no security contexts",
        ),
        HELP,
        VERSION,
    ],
};

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Permute)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(sys, &parsed.options, "id", "id [OPTION]... [USER]...")? {
        return Ok(status);
    }
    let asked = |id: char| parsed.options.iter().any(|(found, _)| *found == id);
    let only: Vec<char> = ['u', 'g', 'G']
        .into_iter()
        .filter(|id| asked(*id))
        .collect();
    let wrong = if only.len() > 1 {
        Some("cannot print \"only\" of more than one choice")
    } else if only.is_empty() && (asked('n') || asked('r')) {
        Some("cannot print only names or real IDs in default format")
    } else if only.is_empty() && asked('z') {
        Some("option --zero not permitted in default format")
    } else {
        None
    };
    if let Some(message) = wrong {
        complain(sys, b"id", message.as_bytes())?;
        return Ok(1);
    }
    let user = sys.user();
    let (uid, gid) = (sys.uid(), sys.gid());
    let mut status = 0;
    let mut out = Vec::new();
    let all = if parsed.operands.is_empty() {
        vec![user.clone()]
    } else {
        parsed.operands
    };
    for wanted in &all {
        if *wanted != user && *wanted != uid.to_string().as_bytes() {
            let shown = say::quoted(sys, wanted);
            complain(sys, b"id", &[shown.as_slice(), b": no such user"].concat())?;
            status = 1;
            continue;
        }
        let name = String::from_utf8_lossy(&user).into_owned();
        let number = if only == ['u'] { uid } else { gid };
        let text = match (only.is_empty(), asked('n')) {
            (true, _) => format!("uid={uid}({name}) gid={gid}({name}) groups={gid}({name})"),
            (false, true) => name,
            (false, false) => number.to_string(),
        };
        out.extend_from_slice(text.as_bytes());
        out.push(if asked('z') { 0 } else { b'\n' });
    }
    let printed = say::print(sys, b"id", &out)?;
    Ok(i32::max(status, printed))
}
