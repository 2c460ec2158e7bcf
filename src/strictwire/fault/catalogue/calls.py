"""Codes of any call, whatever the tool: arguments, permission, time, size, load, our own faults."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import Entry, entry

CALL_ENTRIES: Final[tuple[Entry, ...]] = (
    entry(
        "OVERLOADED",
        "admit us retry",
        text="Too many calls are running",
        action="Wait, then send the same call again.",
        meaning="No place is free for another call.",
    ),
    entry(
        "RATE_LIMITED",
        "admit caller retry",
        text="Too many calls in a short time",
        action="Wait as long as told, then send the same call again.",
        meaning="The caller has used up its share of calls for now.",
    ),
    entry(
        "PERMISSION_DENIED",
        "authorise caller",
        text="Permission denied",
        action="Ask for the permission, or use another tool.",
        meaning="The role, the tier or a policy does not allow the call.",
    ),
    entry(
        "INVALID_PARAMS",
        "accept caller",
        text="Arguments do not fit the input schema",
        action="Correct the arguments that are named and call again.",
        meaning="The arguments do not fit the input schema of the tool, its bounds included.",
    ),
    entry(
        "TIMEOUT",
        "run tool retry",
        text="The time limit was reached",
        action="Ask for less, or try again later.",
        meaning="The tool did not finish within its time limit.",
    ),
    entry(
        "CANCELLED",
        "run caller",
        text="The call was cancelled",
        action="Nothing; call again if the answer is wanted after all.",
        meaning="The caller gave up the call.",
    ),
    entry(
        "TOOL_FAILED",
        "run tool",
        text="The tool failed",
        action="Try other arguments; if it goes on, report it to the author of the tool.",
        meaning="The handler raised something that it does not map to a code.",
    ),
    entry(
        "OUTPUT_INVALID",
        "verify tool",
        text="The answer of the tool breaks its own contract",
        action="Report it to the author of the tool.",
        meaning="The output is not JSON, or does not fit the output schema.",
    ),
    entry(
        "CAP_EXCEEDED",
        "verify tool",
        text="The answer is larger than allowed",
        action="Ask for less: a narrower query, a smaller page.",
        meaning="A run-time cap was passed: the size of the answer or of the whole set.",
    ),
    entry(
        "AUDIT_UNAVAILABLE",
        "record us retry",
        text="The audit record could not be written",
        action="Try again later; without a record there is no answer.",
        meaning="The record of the call could not be made durable, so its answer is withheld.",
    ),
    entry(
        "INTERNAL",
        "run us",
        text="Internal error",
        action="Report it to whoever runs the server.",
        meaning="A fault of the server itself.",
    ),
)
"""In the order of the pipeline."""
