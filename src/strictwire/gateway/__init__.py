"""The guard: relays between MCP clients and upstream MCP servers, and holds the upstreams to their contracts.

An upstream's answer is relayed as the bytes that it sent; it is decoded only to be checked. Below: client (connections to
other servers), profiles (the endpoint and its Backend protocol), pipeline (stages and records). Above: server.
"""
