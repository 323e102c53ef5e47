//! The command `l`: a line with nothing invisible in it.

/// Writes a line unambiguously, broken at the width (0 and 1: not at all).
pub(super) fn render(line: &[u8], width: u64, end: u8) -> Vec<u8> {
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let mut out = Vec::with_capacity(line.len() + 2);
    let mut column = 0;
    for &byte in line {
        let shown: Vec<u8> = match byte {
            b'\\' => b"\\\\".to_vec(),
            7 => b"\\a".to_vec(),
            8 => b"\\b".to_vec(),
            12 => b"\\f".to_vec(),
            b'\n' => b"\\n".to_vec(),
            b'\r' => b"\\r".to_vec(),
            b'\t' => b"\\t".to_vec(),
            11 => b"\\v".to_vec(),
            b' '..=b'~' => vec![byte],
            _ => format!("\\{byte:03o}").into_bytes(),
        };
        if width > 0 && column + shown.len() > width - 1 {
            out.extend_from_slice(&[b'\\', end]);
            column = 0;
        }
        column += shown.len();
        out.extend_from_slice(&shown);
    }
    out.extend_from_slice(&[b'$', end]);
    out
}
