//! All calls of one turn, side by side.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::{
    Call, Executed, Host, PreparedTool, ToolError,
    tool::{Details, HostError},
};

/// Runs the calls of one turn in parallel and returns the results in the order of the calls.
/// Dropping the future ends them all.
pub async fn execute_turn(
    calls: Vec<(Arc<PreparedTool>, Call)>,
    host: &Arc<Host>,
) -> Vec<Executed> {
    let mut results: Vec<_> = calls
        .iter()
        .map(|(tool, _)| ended_early(&tool.name))
        .collect();
    let mut running = JoinSet::new();
    for (place, (tool, call)) in calls.into_iter().enumerate() {
        let host = Arc::clone(host);
        running.spawn(async move { (place, tool.execute_detailed(call, &host).await) });
    }
    while let Some(ended) = running.join_next().await {
        // A task that panicked keeps the result it was given above.
        if let Ok((place, executed)) = ended
            && let Some(result) = results.get_mut(place)
        {
            *result = executed;
        }
    }
    results
}

fn ended_early(tool: &str) -> Executed {
    Executed {
        result: Err(ToolError::new(tool, HostError::EndedEarly)),
        details: Details::default(),
    }
}
