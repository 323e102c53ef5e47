//! What a person can answer to a request, and what is remembered of it: the one place where a decision
//! becomes a grant.

use jp_store::{Arguments, Effect, Millis, NewGrant, Request, StoreError, Verdict};
use serde_json::{Map, Value};

use super::{About, TICKET_LIFE, access::Access, pattern::Pattern};

/// What a person answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// This call, once.
    Once,
    /// Such calls for as long as the program that asked runs.
    Run(Matching),
    /// The tool in this workspace, until the workspace's configuration or the tool changes.
    Workspace,
    /// Such calls from now on, until the tool changes.
    Always {
        /// With which arguments.
        matching: Matching,
        /// Whose calls, where that is not the one who asked: `None` is everybody.
        principal: Option<Option<String>>,
        /// Until when.
        until: Option<Millis>,
    },
    /// Not this call.
    Deny,
    /// No call of the tool in this workspace, from now on.
    Never,
}

/// Which arguments an answer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matching {
    /// Those of the call.
    Same,
    /// Those of the call, but for these, whose text fits a pattern with `*`.
    Patterns(Vec<(String, String)>),
    /// Any.
    Any,
}

/// Why an answer does not fit.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There is no such argument.
    #[error("unknown argument `{}`: the call has {has}", jp_text::inline(name))]
    Argument {
        /// The name.
        name: String,
        /// What there is.
        has: String,
    },
    /// The arguments were too long to keep.
    #[error(
        "cannot remember a pattern: the arguments of this call are too long to keep (limit: 32 KiB)"
    )]
    TooLong,
    /// The workspace has no configuration to hold the decision to.
    #[error("cannot read what the request is about")]
    Unreadable,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who and what a decision is remembered for.
struct Scope<'a> {
    principal: Option<&'a str>,
    configuration: Option<&'a str>,
    run: Option<&'a str>,
    arguments: Arguments,
    until: Option<Millis>,
}

/// Says what an answer means for a request.
pub(super) fn verdict<'a>(
    request: &'a Request,
    answer: &'a Answer,
    author: &'a str,
    now: Millis,
) -> Result<Verdict<'a>, AnswerError> {
    let ticket = now.saturating_add(TICKET_LIFE);
    let principal = Some(request.principal.as_str());
    let scope = Scope {
        principal,
        configuration: None,
        run: None,
        arguments: Arguments::Any,
        until: None,
    };
    let (scope, remembers) = match answer {
        Answer::Once => {
            let arguments = Arguments::Exact(request.arguments);
            let until = Some(ticket);
            (
                Scope {
                    arguments,
                    until,
                    ..scope
                },
                false,
            )
        }
        Answer::Run(matching) => {
            let arguments = arguments(request, matching)?;
            let run = Some(request.run.as_str());
            (
                Scope {
                    arguments,
                    run,
                    ..scope
                },
                true,
            )
        }
        Answer::Workspace => {
            // A workspace without configuration has none that could change.
            let configuration = Some(request.configuration.as_deref().unwrap_or_default());
            (
                Scope {
                    configuration,
                    ..scope
                },
                true,
            )
        }
        Answer::Always {
            matching,
            principal,
            until,
        } => {
            let arguments = arguments(request, matching)?;
            let principal = match principal {
                None => scope.principal,
                Some(other) => other.as_deref(),
            };
            let until = *until;
            (
                Scope {
                    principal,
                    arguments,
                    until,
                    ..scope
                },
                true,
            )
        }
        Answer::Deny => return Ok(Verdict::Deny { remember: vec![] }),
        Answer::Never => {
            let never = grant(request, author, Effect::Never, scope);
            return Ok(Verdict::Deny {
                remember: vec![NewGrant {
                    shown: None,
                    ..never
                }],
            });
        }
    };
    let mut remember = Vec::new();
    if let Some(text) = request.access.as_deref() {
        let access = Access::read(text).ok_or(AnswerError::Unreadable)?;
        remember.push(NewGrant {
            shown: Some(access.definition),
            access: Some(text),
            ..grant(
                request,
                author,
                Effect::Access,
                Scope {
                    arguments: scope.arguments.clone(),
                    ..scope
                },
            )
        });
    }
    if remembers {
        remember.push(grant(request, author, Effect::Allow, scope));
    }
    Ok(Verdict::Allow {
        until: ticket,
        remember,
    })
}

fn grant<'a>(
    request: &'a Request,
    author: &'a str,
    effect: Effect,
    scope: Scope<'a>,
) -> NewGrant<'a> {
    NewGrant {
        effect,
        tool: &request.tool,
        principal: scope.principal,
        workspace: Some(&request.workspace),
        configuration: scope.configuration,
        run: scope.run,
        arguments: scope.arguments,
        shown: Some(request.shown),
        access: None,
        about: &request.about,
        author,
        expires: scope.until,
    }
}

/// Says which arguments are remembered.
fn arguments(request: &Request, matching: &Matching) -> Result<Arguments, AnswerError> {
    let patterns = match matching {
        Matching::Same => return Ok(Arguments::Exact(request.arguments)),
        Matching::Any => return Ok(Arguments::Any),
        Matching::Patterns(patterns) => patterns,
    };
    let about = About::of(request).ok_or(AnswerError::Unreadable)?;
    let mut rest = about.whole().ok_or(AnswerError::TooLong)?;
    let mut fits = Map::new();
    for (name, pattern) in patterns {
        if rest.remove(name).is_none() && !fits.contains_key(name) {
            let names: Vec<String> = rest
                .keys()
                .map(|key| jp_text::inline(key).to_string())
                .collect();
            let has = match names.is_empty() {
                true => "no other".to_owned(),
                false => names.join(", "),
            };
            let name = name.clone();
            return Err(AnswerError::Argument { name, has });
        }
        fits.insert(name.clone(), Value::from(pattern.as_str()));
    }
    let pattern = serde_json::to_string(&Pattern { fits, rest }).unwrap_or_default();
    Ok(Arguments::Pattern(pattern))
}
