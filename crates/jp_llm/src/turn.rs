//! All calls of one turn, side by side.

use std::sync::Arc;

use crate::{Call, Executed, Host, ToolDefinition, ToolError, tool::Details};

/// Runs the calls of one turn in parallel and returns the results in the order of the calls.
pub async fn execute_turn(
    calls: Vec<(Arc<ToolDefinition>, Call)>,
    host: &Arc<Host>,
) -> Vec<Executed> {
    let running: Vec<_> = calls
        .into_iter()
        .map(|(tool, call)| {
            let host = Arc::clone(host);
            let name = tool.name.clone();
            (
                name,
                tokio::spawn(async move { tool.execute_detailed(call, &host).await }),
            )
        })
        .collect();
    let mut results = Vec::with_capacity(running.len());
    for (name, task) in running {
        results.push(task.await.unwrap_or_else(|error| Executed {
            result: Err(ToolError::Host {
                tool: name,
                reason: error.to_string(),
            }),
            details: Details::default(),
        }));
    }
    results
}
