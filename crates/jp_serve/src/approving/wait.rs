//! A call that waits for a decision from another terminal. What it waits for is told as progress; what the
//! tool may take of time does not run meanwhile.

use std::time::Duration;

use jp_host::{
    Here,
    approvals::{RequestId, Standing},
};
use jp_llm::{Approval, ApprovalRequest, Decisions as _};
use jp_tool::ToolStatus;
use tokio::time::{self, Instant};

use super::Asks;
use crate::keep::now;

/// A decision is noticed this soon.
const LOOK: Duration = Duration::from_millis(50);

impl Asks {
    /// Waits for a decision, as long as the client does.
    pub(super) async fn wait(
        &self,
        here: &Here,
        request: &ApprovalRequest<'_>,
        mut id: RequestId,
    ) -> Approval {
        let until = Instant::now() + self.shared.patience();
        self.tell(request, &id);
        let mut looked = true;
        loop {
            // The counter says when there is something to look at.
            if looked || !here.is_fresh(now()) {
                if let Err(error) = here.refresh().await {
                    return Approval::Unknowable(error);
                }
                match self.look(here, request, &id).await {
                    Some(Approval::Waiting(_)) => match here.file(request, now()).await {
                        Ok(next) => {
                            id = next;
                            self.tell(request, &id);
                        }
                        Err(error) => return Approval::Unknowable(error),
                    },
                    Some(decided) => return decided,
                    None => {}
                }
                looked = false;
            }
            if Instant::now() >= until {
                return Approval::Waiting(id.to_string());
            }
            time::sleep(LOOK).await;
        }
    }

    /// Looks what became of a request: nothing while it waits. A permission that another call has used is
    /// none for this one, which then waits for one of its own.
    pub(super) async fn look(
        &self,
        here: &Here,
        request: &ApprovalRequest<'_>,
        id: &RequestId,
    ) -> Option<Approval> {
        let about = request.about;
        let found = match here.request(id, now()).await {
            Ok(found) => found?,
            Err(error) => return Some(Approval::Unknowable(error)),
        };
        let by = || found.author.clone().unwrap_or_default();
        match found.standing {
            Standing::Waiting => None,
            Standing::Allowed => Some(match here.spend(about).await {
                Some(by) => Approval::ApprovedBy(by),
                None => Approval::Waiting(id.to_string()),
            }),
            Standing::Denied => Some(Approval::RefusedBy(by())),
            Standing::Revoked => Some(Approval::RefusedBy(format!("{}, taken back", by()))),
            Standing::Spent | Standing::Expired => Some(Approval::Waiting(id.to_string())),
        }
    }

    fn tell(&self, request: &ApprovalRequest<'_>, id: &RequestId) {
        let Some(events) = &self.events else {
            return;
        };
        let mut status = ToolStatus::phase("validate");
        status.message = Some(format!(
            "waiting for the user's approval: they can run `jp approve {id}`"
        ));
        events.report(&self.call, request.tool, status);
    }
}
