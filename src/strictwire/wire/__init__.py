"""JSON-RPC messages, framing, protocol revisions and request state. Pure. Above: `profiles`. Below: `fault`."""
