//! What the user decided before about a call: looked up for every call, before its grant is composed and
//! before anybody is asked. Nothing here listens to the model or the tool.

use std::sync::Arc;

use jp_audit::Decision;
use jp_policy::{Capabilities, Grant};

use super::{Consent, Granted, Pass};
use crate::{
    About, Decisions, Digest, Known, ToolError,
    decisions::shown,
    tool::{Refused, now},
};

impl Pass<'_> {
    /// Makes sure that what is known of the user's decisions is of now. A call that is under way keeps
    /// what it began with.
    pub(super) async fn look_up(&mut self) -> Result<(), ToolError> {
        let Some(decisions) = self.host.decisions() else {
            return Ok(());
        };
        if !decisions.is_fresh(now())
            && let Err(error) = decisions.refresh().await
        {
            return Err(ToolError::new(&*self.tool.name, Refused::Unknowable(error)));
        }
        if !self.files.is_empty() {
            let files = self.files.iter().map(|placed| {
                let (file, argument) = (&placed.file, &placed.argument);
                format!("{argument} {} {}", file.access, file.path.display())
            });
            self.chosen_files = files.collect();
        }
        Ok(())
    }

    /// Returns the user's decisions, if there are any about this tool.
    fn decisions(&self) -> Option<&dyn Decisions> {
        let decisions = self.host.decisions()?;
        decisions.concerns(&self.tool.name).then_some(decisions)
    }

    /// Returns what the user granted this tool beyond their policy.
    pub(super) fn access(&self) -> Option<Arc<Capabilities>> {
        let decisions = self.decisions()?;
        decisions.access(&self.about(self.definition()))
    }

    /// Tells whether the user granted this call more than their policy says.
    pub(super) fn is_widened(&self) -> bool {
        self.access().is_some()
    }

    /// Returns the digest of what the tool is, its Wasm file as it was when this call first looked included.
    pub(super) fn definition(&self) -> Digest {
        self.seen.get_or_init(|| self.tool.seen(self.host)).0
    }

    /// Returns the digest of what is shown of the tool when a person is asked.
    pub(super) fn shown(&self, grant: &Grant) -> Digest {
        let unconfined = grant.capabilities().subprocess && self.host.unconfined();
        shown(&self.definition(), grant, unconfined)
    }

    /// Returns the same, which is kept with the grant.
    fn shown_of(&self, granted: &Granted) -> Digest {
        let definition = self.definition();
        let make = || (definition, self.shown(&granted.grant));
        match granted.shown.get_or_init(make) {
            (of, shown) if *of == definition => *shown,
            _ => self.shown(&granted.grant),
        }
    }

    /// Says what a decision about this call would be about.
    pub(super) fn about(&self, shown: Digest) -> About<'_> {
        let principal = &self.host.caller().principal;
        About::new(&self.tool.name, principal, &self.arguments, shown, now())
            .with_files(&self.chosen_files)
    }

    /// Says what the user decided before, without spending anything.
    pub(super) fn decided_before(&self, grant: &Grant) -> Known {
        match self.decisions() {
            Some(decisions) => decisions.known(&self.about(self.shown(grant))),
            None => Known::Nothing,
        }
    }

    /// Decides as the user did before, where they did. What they forbade does not run whatever the
    /// configuration says; what they allowed need not ask.
    pub(super) async fn decided(&mut self, granted: &Granted, asks: bool) -> Option<Consent> {
        let decisions = self.decisions()?;
        let about = self.about(self.shown_of(granted));
        let by = match decisions.known(&about) {
            Known::Never { by } => {
                let text =
                    format!("Tool refused: the user decided that such calls never run ({by}).");
                self.decision = Decision::Refused;
                self.decided_by = Some(by);
                return Some(Consent::Skip(text));
            }
            Known::Allowed { by } if asks => by,
            Known::Ticket if asks => decisions.spend(&about).await?,
            Known::Allowed { .. } | Known::Ticket | Known::Nothing => return None,
        };
        self.hold_to_what_was_shown();
        self.decision = Decision::Approved;
        self.decided_by = Some(by);
        Some(Consent::Run)
    }

    /// Lets nothing run but the file whose hash was among what the person was shown.
    pub(super) fn hold_to_what_was_shown(&mut self) {
        let seen = self.seen.get_or_init(|| self.tool.seen(self.host));
        self.held_to = seen.1.clone();
    }
}
