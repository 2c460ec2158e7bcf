"""Streamable HTTP. The rules of MCP over HTTP are apart from the server that reads the bytes.

gatekeeper, cors   host, origin, token                        pure
rules              what happens to a request, from its head   pure
responder          runs an endpoint; JSON response or event stream (sse)

parser, http1      HTTP/1.1 on httptools, its limits
connection         one TCP connection: order, timeouts, backpressure
server             the listener; handoff moves connections between worker processes
asgi               the same rules as an ASGI application, for uvicorn, granian or a larger application
"""
