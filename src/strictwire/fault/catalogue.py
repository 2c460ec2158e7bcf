"""Every code a Failure can have: what it means, whose fault it is, whether to try again, and what a client should do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Stage(StrEnum):
    """How far a call got, in order."""

    DECODE = "decode"
    ENVELOPE = "envelope"
    ROUTE = "route"
    ADMIT = "admit"
    AUTHORISE = "authorise"
    ACCEPT = "accept"
    RUN = "run"
    VERIFY = "verify"
    RECORD = "record"
    START = "start"


class Blame(StrEnum):
    """Whose fault it is."""

    CALLER = "caller"
    TOOL = "tool"
    UPSTREAM = "upstream"
    US = "us"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One code."""

    code: str
    stage: Stage
    blame: Blame
    retryable: bool
    text: str
    """The public sentence used where a failure brings none of its own."""
    action: str
    """What a client should do."""


def _entry(code: str, where: str, text: str, action: str) -> Entry:
    stage, blame, *retry = where.split()
    return Entry(
        code=code, stage=Stage(stage), blame=Blame(blame), retryable=bool(retry), text=text, action=action
    )


_ENTRIES: Final = (
    _entry("NOT_JSON", "decode caller", "Parse error", "Send one strict JSON document in UTF-8."),
    _entry("NOT_A_REQUEST", "envelope caller", "Invalid request", "Send one JSON-RPC 2.0 message with a valid id."),
    _entry("DUPLICATE_ID", "envelope caller", "A request with this id is still running", "Use a fresh id."),
    _entry("REQUEST_TOO_LARGE", "decode caller", "Request too large", "Send less."),
    _entry("METHOD_NOT_FOUND", "route caller", "Method not found", "Ask for what the server offers."),
    _entry("MALFORMED_PARAMS", "route caller", "Invalid params", "Correct the parameters of the method."),
    _entry("UNKNOWN_TOOL", "admit caller", "Unknown tool", "List the tools."),
    _entry("UNKNOWN_PROMPT", "admit caller", "Unknown prompt", "List the prompts."),
    _entry("RESOURCE_NOT_FOUND", "admit caller", "Resource not found", "List the resources."),
    _entry("INVALID_CURSOR", "route caller", "Invalid cursor", "Start the list again without a cursor."),
    _entry("STATE_REJECTED", "route caller", "Invalid requestState", "Start the request again without requestState."),
    _entry("HEADER_MISMATCH", "envelope caller", "Header mismatch", "Make the headers repeat the body."),
    _entry("MISSING_CAPABILITY", "admit caller", "Missing required client capability", "Declare the capability."),
    _entry("UNSUPPORTED_VERSION", "envelope caller", "Unsupported protocol version", "Use a supported version."),
    _entry("SESSION_REQUIRED", "envelope caller", "Session required", "Send initialize first."),
    _entry("SESSION_UNKNOWN", "envelope caller", "Session not found", "Send initialize again."),
    _entry("NOT_INITIALIZED", "envelope caller", "Not initialized", "Send initialize first."),
    _entry("HOST_DENIED", "envelope caller", "Host not allowed", "Use an allowed host."),
    _entry("ORIGIN_DENIED", "envelope caller", "Origin not allowed", "Add the origin to the settings."),
    _entry("UNAUTHENTICATED", "envelope caller", "Authentication required", "Send a bearer token."),
    _entry("NOT_ACCEPTABLE", "envelope caller", "Not acceptable", "Accept JSON and event streams."),
    _entry("UNSUPPORTED_MEDIA_TYPE", "envelope caller", "Unsupported media type", "Send application/json."),
    _entry("HTTP_METHOD_DENIED", "envelope caller", "Method not allowed", "Use POST."),
    _entry("PATH_UNKNOWN", "envelope caller", "No such endpoint", "Use /mcp."),
    _entry("HTTP_MALFORMED", "decode caller", "Malformed HTTP request", "Send HTTP/1.1."),
    _entry("INVALID_PARAMS", "accept caller", "Arguments do not fit the input schema", "Correct the arguments."),
    _entry("PERMISSION_DENIED", "authorise caller", "Permission denied", "Ask for the permission."),
    _entry("TIMEOUT", "run tool retry", "The time limit was reached", "Ask for less, or try again."),
    _entry("CAP_EXCEEDED", "verify tool", "The answer is larger than allowed", "Ask for less."),
    _entry("OVERLOADED", "admit us retry", "Too many calls are running", "Try again later."),
    _entry("CANCELLED", "run caller", "The call was cancelled", "Nothing."),
    _entry("TOOL_FAILED", "run tool", "The tool failed", "Report it to the tool's author."),
    _entry("OUTPUT_INVALID", "verify tool", "The tool's answer breaks its own contract", "Report it."),
    _entry("AUDIT_UNAVAILABLE", "record us retry", "The audit record could not be written", "Try again later."),
    _entry("INTERNAL", "run us", "Internal error", "Report it."),
)

CATALOGUE: Final[Mapping[str, Entry]] = MappingProxyType({entry.code: entry for entry in _ENTRIES})
"""Code to entry. The only source of codes."""
