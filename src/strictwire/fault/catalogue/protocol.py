"""Codes of what goes wrong before there is a call of a tool: bytes, envelopes, headers, names."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import Entry, entry

PROTOCOL_ENTRIES: Final[tuple[Entry, ...]] = (
    entry(
        "HTTP_MALFORMED",
        "decode caller",
        text="Malformed HTTP request",
        action="Send a well-formed HTTP/1.1 request.",
        meaning="The bytes on the connection are not HTTP.",
    ),
    entry(
        "PATH_UNKNOWN",
        "envelope caller",
        text="No such endpoint",
        action="Use a path that the server offers, such as /mcp.",
        meaning="The HTTP path belongs to no endpoint.",
    ),
    entry(
        "HTTP_METHOD_DENIED",
        "envelope caller",
        text="Method not allowed",
        action="Use a method from the Allow header.",
        meaning="The endpoint does not answer this HTTP method.",
    ),
    entry(
        "HOST_DENIED",
        "envelope caller",
        text="Host not allowed",
        action="Use an allowed host, or add this one to the settings.",
        meaning="The Host header names a host that the server does not answer for.",
    ),
    entry(
        "ORIGIN_DENIED",
        "envelope caller",
        text="Origin not allowed",
        action="Add the origin to the settings if it is trusted.",
        meaning="The Origin header is present and not on the list of allowed origins.",
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
        action="Send application/json.",
        meaning="The body is announced as something other than JSON.",
    ),
    entry(
        "NOT_ACCEPTABLE",
        "envelope caller",
        text="Not acceptable",
        action="Accept application/json and text/event-stream.",
        meaning="The Accept header leaves no form in which the server can answer.",
    ),
    entry(
        "REQUEST_TOO_LARGE",
        "decode caller",
        text="Request too large",
        action="Send less in one message.",
        meaning="The message is longer than the endpoint reads.",
    ),
    entry(
        "NOT_JSON",
        "decode caller",
        text="Parse error",
        action="Send one strict JSON document in UTF-8.",
        meaning="Not strict JSON: bad UTF-8 or syntax, a repeated member, NaN, a number out of range, too deep.",
    ),
    entry(
        "NOT_A_REQUEST",
        "envelope caller",
        text="Invalid request",
        action="Send one JSON-RPC 2.0 message with a valid id.",
        meaning="Not one request of the protocol: a batch, a bad or missing id, a wrong version field.",
    ),
    entry(
        "DUPLICATE_ID",
        "envelope caller",
        text="A request with this id is still running",
        action="Use an id that no running request has.",
        meaning="The id is already taken by a request in flight.",
    ),
    entry(
        "SESSION_REQUIRED",
        "envelope caller",
        text="Session required",
        action="Send initialize, then repeat its session id.",
        meaning="A request of a legacy revision came without its session id.",
    ),
    entry(
        "SESSION_UNKNOWN",
        "envelope caller",
        text="Session not found",
        action="Send initialize again.",
        meaning="The session id is not known, or the session has ended.",
    ),
    entry(
        "HEADER_MISMATCH",
        "envelope caller",
        text="Header mismatch",
        action="Make the headers repeat what the body says.",
        meaning="A protocol header is missing, malformed, repeated or different from the body.",
    ),
    entry(
        "UNSUPPORTED_VERSION",
        "envelope caller",
        text="Unsupported protocol version",
        action="Use a version from the list of supported ones.",
        meaning="The protocol version asked for is not spoken here.",
    ),
    entry(
        "METHOD_NOT_FOUND",
        "route caller",
        text="Method not found",
        action="Call a method that the server advertises.",
        meaning="The method does not exist, or belongs to a capability that is not offered.",
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
        action="Start the list again without a cursor.",
        meaning="The cursor of a list method was not issued by this server.",
    ),
    entry(
        "STATE_REJECTED",
        "route caller",
        text="Invalid requestState",
        action="Start the request again without requestState.",
        meaning="The requestState does not verify, has expired, or belongs to another request.",
    ),
    entry(
        "UNKNOWN_TOOL",
        "admit caller",
        text="Unknown tool",
        action="List the tools and use a name from the list.",
        meaning="No tool of this name is offered.",
    ),
    entry(
        "UNKNOWN_PROMPT",
        "admit caller",
        text="Unknown prompt",
        action="List the prompts and use a name from the list.",
        meaning="No prompt of this name is offered.",
    ),
    entry(
        "RESOURCE_NOT_FOUND",
        "admit caller",
        text="Resource not found",
        action="List the resources and use a URI from the list.",
        meaning="No resource has this URI.",
    ),
    entry(
        "MISSING_CAPABILITY",
        "admit caller",
        text="Missing required client capability",
        action="Declare the capability, or use another tool.",
        meaning="The operation needs something of the client that the client did not declare.",
    ),
)
"""In the order in which a message meets them."""
