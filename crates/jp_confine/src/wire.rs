//! The messages between host and launcher: the order that goes in and the verdict that comes back.
//! It does no I/O.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    Confinement, Ended, Network, ProcessLimits,
    fields::{Reader, Writer},
};

/// Longest message; the kernel takes at most a quarter of the stack limit (2 MiB) for a program.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

const ORDER: u8 = b'O';
const FAILED: u8 = b'F';
const READY: u8 = b'R';
const EXITED: u8 = b'E';
const KILLED: u8 = b'K';

/// What the launcher is to do.
pub(crate) struct Order {
    /// The process that must be the launcher's parent for as long as the program runs.
    pub(crate) host: u32,
    /// The control group that holds its memory; without one each process is limited by itself.
    pub(crate) group: Option<PathBuf>,
    pub(crate) confinement: Confinement,
    /// The program and its arguments; empty to build the walls and stop.
    pub(crate) argv: Vec<OsString>,
}

/// What became of an order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The walls stand, and the program runs if there is one.
    Ready,
    /// The program ran, and has ended.
    Ended(Ended),
    Failed(Failure),
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// The path or program concerned, if any.
    pub(crate) subject: OsString,
    pub(crate) problem: String,
    pub(crate) hint: String,
}

/// What kind of step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Setup,
    Grant,
    Start,
}

impl Order {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Confinement {
            read,
            write,
            network,
            env,
            cwd,
            limits,
        } = &self.confinement;
        let mut out = Writer(vec![ORDER]);
        out.number(u64::from(self.host));
        out.list(
            self.group
                .iter()
                .map(|path| path.as_os_str().as_encoded_bytes()),
        );
        out.list(read.iter().map(|path| path.as_os_str().as_encoded_bytes()));
        out.list(write.iter().map(|path| path.as_os_str().as_encoded_bytes()));
        out.number(u64::from(*network == Network::Host));
        out.list(
            env.iter()
                .flat_map(|(name, value)| [name.as_encoded_bytes(), value.as_encoded_bytes()]),
        );
        out.field(cwd.as_os_str().as_encoded_bytes());
        let ProcessLimits {
            memory_bytes,
            processes,
            open_files,
            file_bytes,
            cpu_seconds,
        } = *limits;
        for limit in [memory_bytes, processes, open_files, file_bytes, cpu_seconds] {
            out.number(limit);
        }
        out.list(self.argv.iter().map(|arg| arg.as_encoded_bytes()));
        out.0
    }

    pub(crate) fn decode(message: &[u8]) -> Option<Self> {
        let mut input = Reader(message);
        if input.byte()? != ORDER {
            return None;
        }
        let host = u32::try_from(input.number()?).ok()?;
        let group = input.list()?.into_iter().next().map(PathBuf::from);
        let read = input.list()?.into_iter().map(PathBuf::from).collect();
        let write = input.list()?.into_iter().map(PathBuf::from).collect();
        let network = if input.number()? == 1 {
            Network::Host
        } else {
            Network::None
        };
        let mut strings = input.list()?.into_iter();
        let mut env = Vec::new();
        while let Some(name) = strings.next() {
            env.push((name, strings.next()?));
        }
        let cwd = PathBuf::from(input.string()?);
        let limits = ProcessLimits {
            memory_bytes: input.number()?,
            processes: input.number()?,
            open_files: input.number()?,
            file_bytes: input.number()?,
            cpu_seconds: input.number()?,
        };
        let argv = input.list()?;
        let confinement = Confinement {
            read,
            write,
            network,
            env,
            cwd,
            limits,
        };
        input.0.is_empty().then_some(Self {
            host,
            group,
            confinement,
            argv,
        })
    }
}

impl Verdict {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Failure {
            cause,
            subject,
            problem,
            hint,
        } = match self {
            Self::Failed(failure) => failure,
            Self::Ready => return vec![READY],
            Self::Ended(ended) => return encode_ending(*ended),
        };
        let cause = match cause {
            Cause::Setup => 0,
            Cause::Grant => 1,
            Cause::Start => 2,
        };
        let mut out = Writer(vec![FAILED, cause]);
        for field in [
            subject.as_encoded_bytes(),
            problem.as_bytes(),
            hint.as_bytes(),
        ] {
            out.field(field);
        }
        out.0
    }

    pub(crate) fn decode(message: &[u8]) -> Option<Self> {
        let mut input = Reader(message);
        match input.byte()? {
            READY => Some(Self::Ready),
            EXITED => Some(Self::Ended(Ended::Exited(input.small()?))),
            KILLED => Some(Self::Ended(Ended::Killed(input.small()?))),
            FAILED => {
                let cause = match input.byte()? {
                    0 => Cause::Setup,
                    1 => Cause::Grant,
                    2 => Cause::Start,
                    _ => return None,
                };
                let subject = input.string()?;
                let problem = input.string()?.to_string_lossy().into_owned();
                let hint = input.string()?.to_string_lossy().into_owned();
                Some(Self::Failed(Failure {
                    cause,
                    subject,
                    problem,
                    hint,
                }))
            }
            _ => None,
        }
    }
}

fn encode_ending(ended: Ended) -> Vec<u8> {
    let (kind, number) = match ended {
        Ended::Exited(code) => (EXITED, code),
        Ended::Killed(signal) => (KILLED, signal),
    };
    [&[kind][..], &number.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn order() -> Order {
        Order {
            host: 7,
            group: Some("/sys/fs/cgroup/a b".into()),
            confinement: Confinement {
                read: vec!["/a b".into()],
                write: vec!["/c".into(), "/d\n".into()],
                network: Network::Host,
                env: vec![
                    ("K".into(), OsString::from_vec(vec![0xff, b'='])),
                    ("E".into(), "".into()),
                ],
                cwd: "/c".into(),
                limits: ProcessLimits {
                    memory_bytes: 1,
                    processes: 2,
                    open_files: 3,
                    file_bytes: 4,
                    cpu_seconds: u64::MAX,
                },
            },
            argv: vec!["x".into(), "".into(), "a \"b'\n".into()],
        }
    }

    #[test]
    fn an_order_survives_the_way_there() {
        let sent = order();
        let got = Order::decode(&sent.encode()).unwrap();
        assert_eq!(got.encode(), sent.encode());
        assert_eq!(got.argv, sent.argv);
        assert_eq!(got.group, sent.group);
        assert_eq!(got.confinement.env, sent.confinement.env);
        assert_eq!(got.confinement.limits, sent.confinement.limits);
    }

    #[test]
    fn a_cut_or_longer_order_is_refused() {
        let whole = order().encode();
        for end in 0..whole.len() {
            assert!(Order::decode(&whole[..end]).is_none(), "cut at {end}");
        }
        assert!(Order::decode(&[whole, vec![0]].concat()).is_none());
    }

    #[test]
    fn a_huge_count_allocates_nothing() {
        let mut message = vec![ORDER];
        message.extend([0; 8]);
        message.extend([0xff; 8]);
        assert!(Order::decode(&message).is_none());
    }

    #[test]
    fn a_verdict_survives_the_way_back_and_an_order_is_none() {
        let failed = Verdict::Failed(Failure {
            cause: Cause::Grant,
            subject: "/x".into(),
            problem: "no".into(),
            hint: "yes".into(),
        });
        let ended = [Ended::Exited(255), Ended::Killed(9)].map(Verdict::Ended);
        for verdict in [Verdict::Ready, failed].into_iter().chain(ended) {
            assert_eq!(Verdict::decode(&verdict.encode()), Some(verdict));
        }
        assert_eq!(Verdict::decode(&order().encode()), None);
        assert_eq!(Verdict::decode(&[]), None);
    }
}
