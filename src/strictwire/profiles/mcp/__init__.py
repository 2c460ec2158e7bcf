"""The `mcp` profile: both eras of MCP on one endpoint, for our own tools and for the guard's upstreams."""
