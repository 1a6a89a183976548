"""Tools of MCP servers: which servers there are, the connection to each, what they return."""
