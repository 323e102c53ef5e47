//! Installing, updating and removing tools of a workspace.
