"""Codes for failures before a tool call exists: bytes, envelopes, headers, names."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import CatalogueEntry, entry

PROTOCOL_ENTRIES: Final[tuple[CatalogueEntry, ...]] = (
    entry(
        "HTTP_MALFORMED",
        "decode caller",
        text="Malformed HTTP request",
        action="Send a well-formed HTTP/1.1 request.",
        meaning="The bytes on the connection are not a valid HTTP request.",
    ),
    entry(
        "PATH_UNKNOWN",
        "envelope caller",
        text="No such endpoint",
        action="Use a path that the server serves, such as /mcp.",
        meaning="The server has no endpoint at this HTTP path.",
    ),
    entry(
        "HTTP_METHOD_DENIED",
        "envelope caller",
        text="Method not allowed",
        action="Use a method from the Allow header.",
        meaning="The endpoint does not support this HTTP method.",
    ),
    entry(
        "HOST_DENIED",
        "envelope caller",
        text="Host not allowed",
        action="Use an allowed host, or add this one to server.allowed_hosts.",
        meaning="The Host header is not one of the allowed hosts.",
    ),
    entry(
        "ORIGIN_DENIED",
        "envelope caller",
        text="Origin not allowed",
        action="If the origin is trusted, add it to server.allowed_origins.",
        meaning="The Origin header is present and not one of the allowed origins.",
    ),
    entry(
        "UNAUTHENTICATED",
        "envelope caller",
        text="Authentication required",
        action="Send a valid bearer token.",
        meaning="The bearer token is absent, unknown or expired.",
    ),
    entry(
        "UNSUPPORTED_MEDIA_TYPE",
        "envelope caller",
        text="Unsupported media type",
        action="Send the body with Content-Type application/json.",
        meaning="The Content-Type of the body is not JSON.",
    ),
    entry(
        "NOT_ACCEPTABLE",
        "envelope caller",
        text="Not acceptable",
        action="Accept application/json and text/event-stream.",
        meaning="The Accept header allows no format that the server can send.",
    ),
    entry(
        "REQUEST_TOO_LARGE",
        "decode caller",
        text="Request too large",
        action="Send a smaller message.",
        meaning="The message has more bytes, or more values, than the endpoint accepts.",
    ),
    entry(
        "NOT_JSON",
        "decode caller",
        text="Parse error",
        action="Send one strict JSON document in UTF-8.",
        meaning="Not strict JSON: invalid UTF-8 or syntax, a duplicate member, NaN, a number out of range, or too deep.",
    ),
    entry(
        "NOT_A_REQUEST",
        "envelope caller",
        text="Invalid request",
        action="Send one JSON-RPC 2.0 message with a valid id.",
        meaning="Not a single valid request: a batch, an invalid or missing id, or a wrong version field.",
    ),
    entry(
        "DUPLICATE_ID",
        "envelope caller",
        text="A request with this id is still running",
        action="Use an id that no running request uses.",
        meaning="A request that is still running has the same id.",
    ),
    entry(
        "SESSION_REQUIRED",
        "envelope caller",
        text="Session required",
        action="Send initialize, then send its session id with every request.",
        meaning="A request of a legacy protocol revision has no session id.",
    ),
    entry(
        "SESSION_UNKNOWN",
        "envelope caller",
        text="Session not found",
        action="Send initialize again to start a new session.",
        meaning="The session id is unknown, or the session has ended.",
    ),
    entry(
        "HEADER_MISMATCH",
        "envelope caller",
        text="Header mismatch",
        action="Make the protocol headers match the body.",
        meaning="A protocol header is missing, malformed, repeated or different from the body.",
    ),
    entry(
        "UNSUPPORTED_VERSION",
        "envelope caller",
        text="Unsupported protocol version",
        action="Use one of the supported versions.",
        meaning="The server does not support the requested protocol version.",
    ),
    entry(
        "METHOD_NOT_FOUND",
        "route caller",
        text="Method not found",
        action="Call a method that the server advertises.",
        meaning="The method does not exist, or belongs to a capability that the server does not offer.",
    ),
    entry(
        "MALFORMED_PARAMS",
        "route caller",
        text="Invalid params",
        action="Correct the parameters of the method.",
        meaning="The parameters of the method itself are malformed; the arguments of a tool are INVALID_PARAMS.",
    ),
    entry(
        "INVALID_CURSOR",
        "route caller",
        text="Invalid cursor",
        action="Restart the list without a cursor.",
        meaning="The cursor of a list method was not issued by this server.",
    ),
    entry(
        "STATE_REJECTED",
        "route caller",
        text="Invalid requestState",
        action="Restart the request without requestState.",
        meaning="The requestState does not verify, has expired, or belongs to another request.",
    ),
    entry(
        "UNKNOWN_TOOL",
        "admit caller",
        text="Unknown tool",
        action="List the tools and use a name from the list.",
        meaning="The server has no tool with this name.",
    ),
    entry(
        "UNKNOWN_PROMPT",
        "admit caller",
        text="Unknown prompt",
        action="List the prompts and use a name from the list.",
        meaning="The server has no prompt with this name.",
    ),
    entry(
        "RESOURCE_NOT_FOUND",
        "admit caller",
        text="Resource not found",
        action="List the resources and use a URI from the list.",
        meaning="The server has no resource with this URI.",
    ),
    entry(
        "MISSING_CAPABILITY",
        "admit caller",
        text="Missing required client capability",
        action="Declare the capability, or use another tool.",
        meaning="The operation needs a client capability that the client did not declare.",
    ),
)
"""In the order in which the checks run."""
