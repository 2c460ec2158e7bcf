"""One call in stages, the same for every transport and profile. Knows calls and outcomes, not JSON-RPC."""
