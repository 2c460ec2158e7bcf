"""JSON-RPC envelopes, framing and conversation state, without any input or output. Above: `profiles`. Below: `fault`."""
