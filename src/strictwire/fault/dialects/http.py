"""HTTP: the status and headers for a failure, and its RFC 9457 problem details.

A problem body is only for failures before a JSON-RPC message exists. Later failures are errors or results of the profile,
and HTTP only transports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS, Stage
from strictwire.fault.dialects.rpc_numbers import is_modern, number_of
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import public_details, public_text

MEDIA_TYPE: Final = "application/problem+json"

TYPE_PREFIX: Final = "urn:strictwire:failure:"
"""The `type` of a problem is this prefix and the code: a URN, which does not resolve."""

DEFAULT_RETRY_MS: Final = 1_000
"""The Retry-After time if the failure has none."""

_BY_NUMBER: Final[Mapping[int, int]] = MappingProxyType({-32601: 404, -32603: 200})
"""From MCP 2026-07-28 on. The specification requires 404. An internal error is 200: a 5xx would make proxies retry."""


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect has the same signature
    """The problem body: `{type, title, status, detail, code, retryable, details?}`."""
    problem: JsonObject = {
        "type": TYPE_PREFIX + failure.code,
        "title": CATALOGUE[failure.code].text,
        "status": status_of(failure),
        "detail": public_text(failure),
        "code": failure.code,
        "retryable": failure.retryable,
    }
    details = public_details(failure)
    return problem | ({"details": details} if details else {})


def status_of(failure: Failure) -> int:
    """The status of the failure itself, for a response with a problem body or no body."""
    return RENDERINGS[failure.code].http


def rpc_status_of(failure: Failure, facts: Facts) -> int:
    """The status of an HTTP response with an MCP protocol error.

    1. A failure of HTTP or of the envelope has its own status, in every revision.
    2. Before 2026-07-28, every other JSON-RPC error has status 200.
    3. From 2026-07-28 on, an unknown method is 404, an internal error 200, every other error 400.

    A tool failure, as a result or as an error, always has status 200.
    """
    if CATALOGUE[failure.code].stage in (Stage.DECODE, Stage.ENVELOPE):
        return status_of(failure)
    return _BY_NUMBER.get(number_of(failure, facts), 400) if is_modern(facts) else 200


def headers_of(failure: Failure) -> Mapping[str, str]:
    """The headers that the status requires."""
    make = _HEADERS.get(status_of(failure))
    return {} if make is None else make(failure)


def _retry_after(failure: Failure) -> dict[str, str]:
    """`details.retryAfterMs` in seconds, rounded up."""
    wait = failure.details.get("retryAfterMs")
    milliseconds = wait if isinstance(wait, int) and wait > 0 else DEFAULT_RETRY_MS
    return {"Retry-After": str(-(-milliseconds // 1000))}


def _allow(failure: Failure) -> dict[str, str]:
    allowed = failure.details.get("allow")
    names = allowed if isinstance(allowed, list | tuple) else ("POST",)
    return {"Allow": ", ".join(name for name in names if isinstance(name, str) and name.isalpha())}


def _challenge(_failure: Failure) -> dict[str, str]:
    return {"WWW-Authenticate": "Bearer"}


_HEADERS: Final[Mapping[int, Callable[[Failure], dict[str, str]]]] = MappingProxyType(
    {401: _challenge, 405: _allow, 429: _retry_after, 503: _retry_after}
)
