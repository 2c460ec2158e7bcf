"""The guard: relays between clients and another MCP server, and holds that server to its contract.

Below: client (how other servers are reached), profiles (eras, streams, seals), pipeline (stages, records). Above: server.
An answer is relayed as the bytes that came; it is decoded only to be judged.
"""
