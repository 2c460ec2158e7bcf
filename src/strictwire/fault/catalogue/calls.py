"""Codes for failures of any tool call: load, permission, arguments, time, size, audit, internal faults."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import CatalogueEntry, entry

CALL_ENTRIES: Final[tuple[CatalogueEntry, ...]] = (
    entry(
        "OVERLOADED",
        "admit us retry",
        text="Too many calls are running",
        action="Wait, then send the same call again.",
        meaning="The limit of concurrent calls is reached.",
    ),
    entry(
        "RATE_LIMITED",
        "admit caller retry",
        text="Too many calls in a short time",
        action="Wait for the given time, then send the same call again.",
        meaning="The caller has exceeded its rate limit.",
    ),
    entry(
        "PERMISSION_DENIED",
        "authorise caller",
        text="Permission denied",
        action="Ask for the permission, or use another tool.",
        meaning="The caller's role, its tier or a policy does not allow the call.",
    ),
    entry(
        "INVALID_PARAMS",
        "accept caller",
        text="Arguments do not match the input schema",
        action="Correct the named arguments and call again.",
        meaning="The arguments do not match the input schema of the tool, including its bounds.",
    ),
    entry(
        "TIMEOUT",
        "run tool retry",
        text="The tool exceeded its time limit",
        action="Request less, or try again later.",
        meaning="The tool did not finish within its time limit.",
    ),
    entry(
        "CANCELLED",
        "run caller",
        text="The call was cancelled",
        action="Nothing to do; call again if you still need the result.",
        meaning="The caller cancelled the call.",
    ),
    entry(
        "ANSWER_INVALID",
        "run caller",
        text="The answer to a question of the tool is not valid",
        action="Call again, and answer with values that the requested schema accepts.",
        meaning="The client answered a question of the tool with a value that its schema does not accept.",
    ),
    entry(
        "ANSWER_DECLINED",
        "run caller",
        text="The question of the tool was declined",
        action="Call again when the user is ready to answer.",
        meaning="The user declined or cancelled a question that the tool cannot do without.",
    ),
    entry(
        "TOOL_FAILED",
        "run tool",
        text="The tool failed",
        action="Try other arguments; if the failure persists, report it to the author of the tool.",
        meaning="The handler raised an exception that it does not map to a code.",
    ),
    entry(
        "CONFLICT",
        "run caller",
        text="The state does not allow this",
        action="Read the current state, then decide again.",
        meaning="The call does not fit the state: something exists already, is in use, or has changed.",
    ),
    entry(
        "UNAVAILABLE",
        "run upstream retry",
        text="A service that the tool needs is not available",
        action="Try again in a moment.",
        meaning="Something that the tool depends on does not answer.",
    ),
    entry(
        "OUTPUT_INVALID",
        "verify tool",
        text="The result of the tool does not match its output schema",
        action="Report it to the author of the tool.",
        meaning="The result is not JSON, or does not match the output schema.",
    ),
    entry(
        "CAP_EXCEEDED",
        "verify tool",
        text="The result exceeds a size limit",
        action="Request less: a narrower query or a smaller page.",
        meaning="A run-time cap was exceeded: the size of the response or of the whole result set.",
    ),
    entry(
        "AUDIT_UNAVAILABLE",
        "record us retry",
        text="The audit record could not be written",
        action="Try again later; the server sends no result without an audit record.",
        meaning="The audit record of the call could not be made durable, so the result is withheld.",
    ),
    entry(
        "INTERNAL",
        "run us",
        text="Internal error",
        action="Report it to the operator of the server.",
        meaning="A fault in the server itself.",
    ),
)
"""In the order of the pipeline stages."""
