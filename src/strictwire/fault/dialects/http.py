"""HTTP: which status carries a failure, which headers go with it, and its RFC 9457 problem body.

A problem body is for what fails before there is a JSON-RPC message to answer; everything after that is an error or
result of the profile, and HTTP only carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS, Stage
from strictwire.fault.dialects.mcp import is_modern, number_of
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import public_details, public_text

MEDIA_TYPE: Final = "application/problem+json"

TYPE_PREFIX: Final = "urn:strictwire:failure:"
"""`type` of a problem is this and the code: a name, not an address."""

DEFAULT_RETRY_MS: Final = 1_000
"""How long to wait where the failure does not say."""

_BY_NUMBER: Final[Mapping[int, int]] = MappingProxyType({-32601: 404, -32603: 200})
"""MCP from 2026-07-28 on. 404 is demanded. A failed call was carried well: a 5xx would make proxies repeat it."""


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect takes the same two
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
    """The status of the condition itself, for an answer that is a problem body or empty."""
    return RENDERINGS[failure.code].http


def rpc_status_of(failure: Failure, facts: Facts) -> int:
    """The status that carries a protocol error of MCP.

    1. What HTTP or the envelope refuses has the status of its condition, in every revision.
    2. Before 2026-07-28 every other JSON-RPC error rides on 200.
    3. From then on an unknown method is 404, a failure of ours 200, the rest 400.

    A failure of a tool, result or error, always rides on 200.
    """
    if CATALOGUE[failure.code].stage in (Stage.DECODE, Stage.ENVELOPE):
        return status_of(failure)
    return _BY_NUMBER.get(number_of(failure, facts), 400) if is_modern(facts) else 200


def headers_of(failure: Failure) -> Mapping[str, str]:
    """The headers that the status asks for."""
    make = _HEADERS.get(status_of(failure))
    return {} if make is None else make(failure)


def _retry_after(failure: Failure) -> dict[str, str]:
    """Whole seconds, rounded up; `details.retryAfterMs` says how long."""
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
