//! size: the table of all options of curl 7.88, done or refused by name.
//!
//! Options are read by curl's own rules: letters in a row, values attached or not, unambiguous beginnings.

use crate::options::{Opt, Support, Takes, opt, refused};

const NOT_DONE: &str = "it is not part of this curl";
const CONNECTION: &str = "the host makes the connection";
const HTTP_ONLY: &str = "only http and https are spoken";
const TLS: &str = "the host makes the TLS connection";

/// Every option of `curl --help all`.
pub(super) const OPTIONS: &[Opt] = &[
    refused(
        None,
        Some("abstract-unix-socket"),
        Takes::Required,
        CONNECTION,
    ),
    refused(None, Some("alt-svc"), Takes::Required, NOT_DONE),
    refused(
        None,
        Some("anyauth"),
        Takes::Nothing,
        "only basic and bearer authentication",
    ),
    refused(Some(b'a'), Some("append"), Takes::Nothing, HTTP_ONLY),
    refused(
        None,
        Some("aws-sigv4"),
        Takes::Required,
        "only basic and bearer authentication",
    ),
    opt('3', None, Some("basic"), Takes::Nothing),
    refused(None, Some("cacert"), Takes::Required, TLS),
    refused(None, Some("capath"), Takes::Required, TLS),
    refused(Some(b'E'), Some("cert"), Takes::Required, TLS),
    refused(None, Some("cert-status"), Takes::Nothing, TLS),
    refused(None, Some("cert-type"), Takes::Required, TLS),
    refused(None, Some("ciphers"), Takes::Required, TLS),
    refused(
        None,
        Some("compressed"),
        Takes::Nothing,
        "bodies are handed over as they come",
    ),
    refused(None, Some("compressed-ssh"), Takes::Nothing, HTTP_ONLY),
    refused(
        Some(b'K'),
        Some("config"),
        Takes::Required,
        "options come from the command line only",
    ),
    refused(None, Some("connect-timeout"), Takes::Required, CONNECTION),
    refused(None, Some("connect-to"), Takes::Required, CONNECTION),
    refused(Some(b'C'), Some("continue-at"), Takes::Required, NOT_DONE),
    opt('b', Some(b'b'), Some("cookie"), Takes::Required),
    opt('c', Some(b'c'), Some("cookie-jar"), Takes::Required),
    opt('K', None, Some("create-dirs"), Takes::Nothing),
    refused(None, Some("create-file-mode"), Takes::Required, NOT_DONE),
    refused(None, Some("crlf"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("crlfile"), Takes::Required, TLS),
    refused(None, Some("curves"), Takes::Required, TLS),
    opt('d', Some(b'd'), Some("data"), Takes::Required),
    opt('d', None, Some("data-ascii"), Takes::Required),
    opt('y', None, Some("data-binary"), Takes::Required),
    opt('r', None, Some("data-raw"), Takes::Required),
    opt('U', None, Some("data-urlencode"), Takes::Required),
    refused(
        None,
        Some("delegation"),
        Takes::Required,
        "only basic and bearer authentication",
    ),
    refused(
        None,
        Some("digest"),
        Takes::Nothing,
        "only basic and bearer authentication",
    ),
    opt('8', Some(b'q'), Some("disable"), Takes::Nothing),
    refused(None, Some("disable-eprt"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("disable-epsv"), Takes::Nothing, HTTP_ONLY),
    refused(
        None,
        Some("disallow-username-in-url"),
        Takes::Nothing,
        NOT_DONE,
    ),
    refused(None, Some("dns-interface"), Takes::Required, CONNECTION),
    refused(None, Some("dns-ipv4-addr"), Takes::Required, CONNECTION),
    refused(None, Some("dns-ipv6-addr"), Takes::Required, CONNECTION),
    refused(None, Some("dns-servers"), Takes::Required, CONNECTION),
    refused(None, Some("doh-cert-status"), Takes::Nothing, TLS),
    refused(
        None,
        Some("doh-insecure"),
        Takes::Nothing,
        "the host decides how servers are verified",
    ),
    refused(None, Some("doh-url"), Takes::Required, CONNECTION),
    opt('P', Some(b'D'), Some("dump-header"), Takes::Required),
    refused(None, Some("egd-file"), Takes::Required, TLS),
    refused(None, Some("engine"), Takes::Required, TLS),
    opt('!', None, Some("etag-compare"), Takes::Required),
    opt('@', None, Some("etag-save"), Takes::Required),
    refused(None, Some("expect100-timeout"), Takes::Required, NOT_DONE),
    opt('f', Some(b'f'), Some("fail"), Takes::Nothing),
    opt('E', None, Some("fail-early"), Takes::Nothing),
    opt('W', None, Some("fail-with-body"), Takes::Nothing),
    refused(None, Some("false-start"), Takes::Nothing, TLS),
    opt('F', Some(b'F'), Some("form"), Takes::Required),
    refused(None, Some("form-escape"), Takes::Nothing, NOT_DONE),
    opt('g', None, Some("form-string"), Takes::Required),
    refused(None, Some("ftp-account"), Takes::Required, HTTP_ONLY),
    refused(
        None,
        Some("ftp-alternative-to-user"),
        Takes::Required,
        HTTP_ONLY,
    ),
    refused(None, Some("ftp-create-dirs"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ftp-method"), Takes::Required, HTTP_ONLY),
    refused(None, Some("ftp-pasv"), Takes::Nothing, HTTP_ONLY),
    refused(Some(b'P'), Some("ftp-port"), Takes::Required, HTTP_ONLY),
    refused(None, Some("ftp-pret"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ftp-skip-pasv-ip"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ftp-ssl-ccc"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ftp-ssl-ccc-mode"), Takes::Required, HTTP_ONLY),
    refused(None, Some("ftp-ssl-control"), Takes::Nothing, HTTP_ONLY),
    opt('G', Some(b'G'), Some("get"), Takes::Nothing),
    opt('0', Some(b'g'), Some("globoff"), Takes::Nothing),
    refused(
        None,
        Some("happy-eyeballs-timeout-ms"),
        Takes::Required,
        CONNECTION,
    ),
    refused(None, Some("haproxy-protocol"), Takes::Nothing, CONNECTION),
    opt('I', Some(b'I'), Some("head"), Takes::Nothing),
    opt('H', Some(b'H'), Some("header"), Takes::Required),
    opt('?', Some(b'h'), Some("help"), Takes::Nothing),
    refused(None, Some("hostpubmd5"), Takes::Required, HTTP_ONLY),
    refused(None, Some("hostpubsha256"), Takes::Required, HTTP_ONLY),
    refused(None, Some("hsts"), Takes::Required, NOT_DONE),
    refused(
        None,
        Some("http0.9"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        Some(b'0'),
        Some("http1.0"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("http1.1"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("http2"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("http2-prior-knowledge"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("http3"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("http3-only"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    refused(
        None,
        Some("ignore-content-length"),
        Takes::Nothing,
        NOT_DONE,
    ),
    opt('i', Some(b'i'), Some("include"), Takes::Nothing),
    refused(
        Some(b'k'),
        Some("insecure"),
        Takes::Nothing,
        "the host decides how servers are verified",
    ),
    refused(None, Some("interface"), Takes::Required, CONNECTION),
    refused(Some(b'4'), Some("ipv4"), Takes::Nothing, CONNECTION),
    refused(Some(b'6'), Some("ipv6"), Takes::Nothing, CONNECTION),
    opt('j', None, Some("json"), Takes::Required),
    opt(
        'Z',
        Some(b'j'),
        Some("junk-session-cookies"),
        Takes::Nothing,
    ),
    refused(None, Some("keepalive-time"), Takes::Required, NOT_DONE),
    refused(None, Some("key"), Takes::Required, TLS),
    refused(None, Some("key-type"), Takes::Required, TLS),
    refused(None, Some("krb"), Takes::Required, HTTP_ONLY),
    refused(
        None,
        Some("libcurl"),
        Takes::Required,
        "there is no trace; use -v",
    ),
    refused(None, Some("limit-rate"), Takes::Required, NOT_DONE),
    refused(Some(b'l'), Some("list-only"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("local-port"), Takes::Required, CONNECTION),
    opt('L', Some(b'L'), Some("location"), Takes::Nothing),
    opt('l', None, Some("location-trusted"), Takes::Nothing),
    refused(None, Some("login-options"), Takes::Required, HTTP_ONLY),
    refused(None, Some("mail-auth"), Takes::Required, HTTP_ONLY),
    refused(None, Some("mail-from"), Takes::Required, HTTP_ONLY),
    refused(None, Some("mail-rcpt"), Takes::Required, HTTP_ONLY),
    refused(
        None,
        Some("mail-rcpt-allowfails"),
        Takes::Nothing,
        HTTP_ONLY,
    ),
    refused(Some(b'M'), Some("manual"), Takes::Nothing, NOT_DONE),
    opt('z', None, Some("max-filesize"), Takes::Required),
    opt('M', None, Some("max-redirs"), Takes::Required),
    opt('m', Some(b'm'), Some("max-time"), Takes::Required),
    refused(None, Some("metalink"), Takes::Nothing, NOT_DONE),
    refused(
        None,
        Some("negotiate"),
        Takes::Nothing,
        "only basic and bearer authentication",
    ),
    refused(
        Some(b'n'),
        Some("netrc"),
        Takes::Nothing,
        "no file of passwords is read",
    ),
    refused(
        None,
        Some("netrc-file"),
        Takes::Required,
        "no file of passwords is read",
    ),
    refused(
        None,
        Some("netrc-optional"),
        Takes::Nothing,
        "no file of passwords is read",
    ),
    refused(
        Some(b':'),
        Some("next"),
        Takes::Nothing,
        "transfers run one after the other, with one set of options",
    ),
    refused(None, Some("no-alpn"), Takes::Nothing, TLS),
    opt('7', Some(b'N'), Some("no-buffer"), Takes::Nothing),
    opt('N', None, Some("no-clobber"), Takes::Nothing),
    refused(None, Some("no-keepalive"), Takes::Nothing, NOT_DONE),
    refused(None, Some("no-npn"), Takes::Nothing, TLS),
    opt('1', None, Some("no-progress-meter"), Takes::Nothing),
    refused(None, Some("no-sessionid"), Takes::Nothing, TLS),
    refused(None, Some("noproxy"), Takes::Required, CONNECTION),
    refused(
        None,
        Some("ntlm"),
        Takes::Nothing,
        "only basic and bearer authentication",
    ),
    refused(
        None,
        Some("ntlm-wb"),
        Takes::Nothing,
        "only basic and bearer authentication",
    ),
    opt('B', None, Some("oauth2-bearer"), Takes::Required),
    opt('o', Some(b'o'), Some("output"), Takes::Required),
    opt('Q', None, Some("output-dir"), Takes::Required),
    refused(
        Some(b'Z'),
        Some("parallel"),
        Takes::Nothing,
        "transfers run one after the other, with one set of options",
    ),
    refused(
        None,
        Some("parallel-immediate"),
        Takes::Nothing,
        "transfers run one after the other, with one set of options",
    ),
    refused(
        None,
        Some("parallel-max"),
        Takes::Required,
        "transfers run one after the other, with one set of options",
    ),
    refused(None, Some("pass"), Takes::Required, TLS),
    opt('J', None, Some("path-as-is"), Takes::Nothing),
    refused(None, Some("pinnedpubkey"), Takes::Required, TLS),
    opt('4', None, Some("post301"), Takes::Nothing),
    opt('5', None, Some("post302"), Takes::Nothing),
    opt('6', None, Some("post303"), Takes::Nothing),
    refused(None, Some("preproxy"), Takes::Required, CONNECTION),
    opt('2', Some(b'#'), Some("progress-bar"), Takes::Nothing),
    refused(None, Some("proto"), Takes::Required, NOT_DONE),
    opt('%', None, Some("proto-default"), Takes::Required),
    refused(None, Some("proto-redir"), Takes::Required, NOT_DONE),
    refused(Some(b'x'), Some("proxy"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-anyauth"), Takes::Nothing, CONNECTION),
    refused(None, Some("proxy-basic"), Takes::Nothing, CONNECTION),
    refused(None, Some("proxy-cacert"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-capath"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-cert"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-cert-type"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-ciphers"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-crlfile"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-digest"), Takes::Nothing, CONNECTION),
    refused(None, Some("proxy-header"), Takes::Required, CONNECTION),
    refused(
        None,
        Some("proxy-insecure"),
        Takes::Nothing,
        "the host decides how servers are verified",
    ),
    refused(None, Some("proxy-key"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-key-type"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-negotiate"), Takes::Nothing, CONNECTION),
    refused(None, Some("proxy-ntlm"), Takes::Nothing, CONNECTION),
    refused(None, Some("proxy-pass"), Takes::Required, CONNECTION),
    refused(
        None,
        Some("proxy-pinnedpubkey"),
        Takes::Required,
        CONNECTION,
    ),
    refused(
        None,
        Some("proxy-service-name"),
        Takes::Required,
        CONNECTION,
    ),
    refused(
        None,
        Some("proxy-ssl-allow-beast"),
        Takes::Nothing,
        CONNECTION,
    ),
    refused(
        None,
        Some("proxy-ssl-auto-client-cert"),
        Takes::Nothing,
        CONNECTION,
    ),
    refused(
        None,
        Some("proxy-tls13-ciphers"),
        Takes::Required,
        CONNECTION,
    ),
    refused(None, Some("proxy-tlsauthtype"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-tlspassword"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-tlsuser"), Takes::Required, CONNECTION),
    refused(None, Some("proxy-tlsv1"), Takes::Nothing, CONNECTION),
    refused(Some(b'U'), Some("proxy-user"), Takes::Required, CONNECTION),
    refused(None, Some("proxy1.0"), Takes::Required, CONNECTION),
    refused(Some(b'p'), Some("proxytunnel"), Takes::Nothing, CONNECTION),
    refused(None, Some("pubkey"), Takes::Required, HTTP_ONLY),
    refused(Some(b'Q'), Some("quote"), Takes::Required, HTTP_ONLY),
    refused(None, Some("random-file"), Takes::Required, TLS),
    opt('n', Some(b'r'), Some("range"), Takes::Required),
    refused(None, Some("rate"), Takes::Required, NOT_DONE),
    refused(
        None,
        Some("raw"),
        Takes::Nothing,
        "the host chooses the version of HTTP",
    ),
    opt('e', Some(b'e'), Some("referer"), Takes::Required),
    refused(
        Some(b'J'),
        Some("remote-header-name"),
        Takes::Nothing,
        NOT_DONE,
    ),
    opt('O', Some(b'O'), Some("remote-name"), Takes::Nothing),
    opt('p', None, Some("remote-name-all"), Takes::Nothing),
    refused(Some(b'R'), Some("remote-time"), Takes::Nothing, NOT_DONE),
    opt('x', None, Some("remove-on-error"), Takes::Nothing),
    opt('X', Some(b'X'), Some("request"), Takes::Required),
    refused(None, Some("request-target"), Takes::Required, NOT_DONE),
    refused(None, Some("resolve"), Takes::Required, CONNECTION),
    opt('R', None, Some("retry"), Takes::Required),
    opt('a', None, Some("retry-all-errors"), Takes::Nothing),
    opt('k', None, Some("retry-connrefused"), Takes::Nothing),
    opt('D', None, Some("retry-delay"), Takes::Required),
    opt('t', None, Some("retry-max-time"), Takes::Required),
    refused(None, Some("sasl-authzid"), Takes::Required, HTTP_ONLY),
    refused(None, Some("sasl-ir"), Takes::Nothing, HTTP_ONLY),
    refused(
        None,
        Some("service-name"),
        Takes::Required,
        "only basic and bearer authentication",
    ),
    opt('S', Some(b'S'), Some("show-error"), Takes::Nothing),
    opt('s', Some(b's'), Some("silent"), Takes::Nothing),
    refused(None, Some("socks4"), Takes::Required, CONNECTION),
    refused(None, Some("socks4a"), Takes::Required, CONNECTION),
    refused(None, Some("socks5"), Takes::Required, CONNECTION),
    refused(None, Some("socks5-basic"), Takes::Nothing, CONNECTION),
    refused(None, Some("socks5-gssapi"), Takes::Nothing, CONNECTION),
    refused(None, Some("socks5-gssapi-nec"), Takes::Nothing, CONNECTION),
    refused(
        None,
        Some("socks5-gssapi-service"),
        Takes::Required,
        CONNECTION,
    ),
    refused(None, Some("socks5-hostname"), Takes::Required, CONNECTION),
    refused(Some(b'Y'), Some("speed-limit"), Takes::Required, NOT_DONE),
    refused(Some(b'y'), Some("speed-time"), Takes::Required, NOT_DONE),
    refused(None, Some("ssl"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ssl-allow-beast"), Takes::Nothing, TLS),
    refused(None, Some("ssl-auto-client-cert"), Takes::Nothing, TLS),
    refused(None, Some("ssl-no-revoke"), Takes::Nothing, TLS),
    refused(None, Some("ssl-reqd"), Takes::Nothing, HTTP_ONLY),
    refused(None, Some("ssl-revoke-best-effort"), Takes::Nothing, TLS),
    refused(Some(b'2'), Some("sslv2"), Takes::Nothing, TLS),
    refused(Some(b'3'), Some("sslv3"), Takes::Nothing, TLS),
    refused(None, Some("stderr"), Takes::Required, "use 2>FILE"),
    refused(None, Some("styled-output"), Takes::Nothing, NOT_DONE),
    refused(
        None,
        Some("suppress-connect-headers"),
        Takes::Nothing,
        NOT_DONE,
    ),
    refused(None, Some("tcp-fastopen"), Takes::Nothing, NOT_DONE),
    refused(None, Some("tcp-nodelay"), Takes::Nothing, NOT_DONE),
    refused(
        Some(b't'),
        Some("telnet-option"),
        Takes::Required,
        HTTP_ONLY,
    ),
    refused(None, Some("tftp-blksize"), Takes::Required, HTTP_ONLY),
    refused(None, Some("tftp-no-options"), Takes::Nothing, HTTP_ONLY),
    refused(Some(b'z'), Some("time-cond"), Takes::Required, NOT_DONE),
    refused(None, Some("tls-max"), Takes::Required, TLS),
    refused(None, Some("tls13-ciphers"), Takes::Required, TLS),
    refused(None, Some("tlsauthtype"), Takes::Required, TLS),
    refused(None, Some("tlspassword"), Takes::Required, TLS),
    refused(None, Some("tlsuser"), Takes::Required, TLS),
    refused(Some(b'1'), Some("tlsv1"), Takes::Nothing, TLS),
    refused(None, Some("tlsv1.0"), Takes::Nothing, TLS),
    refused(None, Some("tlsv1.1"), Takes::Nothing, TLS),
    refused(None, Some("tlsv1.2"), Takes::Nothing, TLS),
    refused(None, Some("tlsv1.3"), Takes::Nothing, TLS),
    refused(
        None,
        Some("tr-encoding"),
        Takes::Nothing,
        "bodies are handed over as they come",
    ),
    refused(
        None,
        Some("trace"),
        Takes::Required,
        "there is no trace; use -v",
    ),
    refused(
        None,
        Some("trace-ascii"),
        Takes::Required,
        "there is no trace; use -v",
    ),
    refused(
        None,
        Some("trace-time"),
        Takes::Nothing,
        "there is no trace; use -v",
    ),
    refused(None, Some("unix-socket"), Takes::Required, CONNECTION),
    opt('T', Some(b'T'), Some("upload-file"), Takes::Required),
    opt('h', None, Some("url"), Takes::Required),
    opt('q', None, Some("url-query"), Takes::Required),
    refused(Some(b'B'), Some("use-ascii"), Takes::Nothing, HTTP_ONLY),
    opt('u', Some(b'u'), Some("user"), Takes::Required),
    opt('A', Some(b'A'), Some("user-agent"), Takes::Required),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    opt('V', Some(b'V'), Some("version"), Takes::Nothing),
    opt('w', Some(b'w'), Some("write-out"), Takes::Required),
    refused(None, Some("xattr"), Takes::Nothing, NOT_DONE),
];

/// What was found: options with their values, URLs among them.
pub(super) type Found = Vec<(char, Vec<u8>)>;

/// Stands for a URL that is an operand.
pub(super) const URL: char = 'h';

/// What is wrong with the arguments, in curl's words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misuse {
    /// There is no such option.
    #[error("option {0}: is unknown")]
    Unknown(String),
    /// Several options start like that.
    #[error("option {0}: is ambiguous")]
    Ambiguous(String),
    /// An option lacks its value.
    #[error("option {0}: requires parameter")]
    NoValue(String),
    /// An option of curl that is not done here.
    #[error("option {name} is not supported: {why}")]
    Refused { name: String, why: &'static str },
}

/// Reads the arguments behind the name.
pub(super) fn read(args: &[Vec<u8>]) -> Result<Found, Misuse> {
    let mut found = Found::new();
    let mut words = args.iter().skip(1);
    let mut only_operands = false;
    while let Some(word) = words.next() {
        if only_operands || word.len() < 2 || word.first() != Some(&b'-') {
            found.push((URL, word.clone()));
        } else if word == b"--" {
            only_operands = true;
        } else if let Some(long) = word.strip_prefix(b"--") {
            let opt = find_long(&String::from_utf8_lossy(long))?;
            let name = format!("--{}", opt.long.unwrap_or_default());
            supported(opt, &name)?;
            let value = match opt.takes {
                Takes::Nothing => Vec::new(),
                _ => words.next().cloned().ok_or(Misuse::NoValue(name))?,
            };
            found.push((opt.id, value));
        } else {
            short(word.get(1..).unwrap_or_default(), &mut words, &mut found)?;
        }
    }
    Ok(found)
}

fn short(
    letters: &[u8],
    words: &mut std::iter::Skip<std::slice::Iter<'_, Vec<u8>>>,
    found: &mut Found,
) -> Result<(), Misuse> {
    for (at, letter) in letters.iter().enumerate() {
        let name = format!("-{}", char::from(*letter));
        let opt = OPTIONS
            .iter()
            .find(|opt| opt.short == Some(*letter))
            .ok_or_else(|| Misuse::Unknown(name.clone()))?;
        supported(opt, &name)?;
        if opt.takes == Takes::Nothing {
            found.push((opt.id, Vec::new()));
            continue;
        }
        let attached = letters.get(at + 1..).unwrap_or_default();
        let value = if attached.is_empty() {
            words.next().cloned().ok_or(Misuse::NoValue(name))?
        } else {
            attached.to_vec()
        };
        found.push((opt.id, value));
        return Ok(());
    }
    Ok(())
}

fn find_long(name: &str) -> Result<&'static Opt, Misuse> {
    if let Some(opt) = OPTIONS.iter().find(|opt| opt.long == Some(name)) {
        return Ok(opt);
    }
    let mut begins = OPTIONS
        .iter()
        .filter(|opt| opt.long.is_some_and(|long| long.starts_with(name)));
    match (begins.next(), begins.next()) {
        (Some(opt), None) if !name.is_empty() => Ok(opt),
        (Some(_), Some(_)) => Err(Misuse::Ambiguous(format!("--{name}"))),
        _ => Err(Misuse::Unknown(format!("--{name}"))),
    }
}

fn supported(opt: &Opt, name: &str) -> Result<(), Misuse> {
    match opt.support {
        Support::Done | Support::Hidden | Support::Ends => Ok(()),
        Support::Refused(why) => Err(Misuse::Refused {
            name: name.to_owned(),
            why,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_done_option_has_an_id_of_its_own() {
        let mut ids: Vec<(char, &str)> = OPTIONS
            .iter()
            .filter(|opt| opt.support == Support::Done)
            .map(|opt| (opt.id, opt.long.unwrap_or_default()))
            .collect();
        ids.sort_unstable();
        for pair in ids.windows(2) {
            let [a, b] = pair else { continue };
            // `--data-ascii` is another name of `--data`.
            assert!(a.0 != b.0 || a.0 == 'd', "{a:?} {b:?}");
        }
        assert_eq!(OPTIONS.len(), 250);
    }
}
