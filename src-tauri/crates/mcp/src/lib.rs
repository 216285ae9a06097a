//! Longrein mcp.
