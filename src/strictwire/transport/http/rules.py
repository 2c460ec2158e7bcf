"""What happens to an HTTP request, decided from its head alone. Pure, and apart from any HTTP server.

Our own server (`connection`) and the ASGI application (`asgi`) both ask `decide`, so that one definition of each rule holds
wherever the server runs. Eras and sessions of MCP are decided after this, by the endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.canon.json import render
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Endpoint, Headers, Reply
from strictwire.transport.http import cors
from strictwire.transport.http.cors import HeaderFields
from strictwire.transport.http.gatekeeper import Gatekeeper

HEALTH_PATH: Final = "/healthz"
_JSON: Final = re.compile(r"application/json\s*(?:;\s*charset\s*=\s*\"?utf-8\"?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one listener serves, and to whom."""

    endpoints: Mapping[str, Endpoint]
    """Path to endpoint."""
    gatekeeper: Gatekeeper
    max_body: int
    health: bytes = b'{"status":"ok"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """Request line and header fields."""

    method: str
    path: str
    """As it was sent, without the query. It is not percent-decoded: `/%6dcp` is not `/mcp`."""
    headers: Headers
    version: str = "1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request that an endpoint answers once its body is complete."""

    endpoint: Endpoint
    caller: Caller
    head: RequestHead
    cors: HeaderFields
    """Go into whatever response the endpoint gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request that no endpoint sees: refused, a preflight, or a health check."""

    reply: Reply


Decision: TypeAlias = Admitted | Answered


def decide(head: RequestHead, site: Site) -> Decision:
    """Apply the rules in order; the first that matches decides.

    1. Host or Origin denied: 421, 403. Without CORS headers, so that a foreign page cannot read even the refusal
    2. OPTIONS: a CORS preflight, 204
    3. no valid token where one is needed: 401
    4. the health check: 200
    5. no endpoint has this path: 404
    6. a POST that is not JSON in UTF-8, or does not accept the endpoint's media types: 415, 406
    7. the endpoint answers
    """
    caller = site.gatekeeper.find_denial(head.headers) if head.method == "OPTIONS" else site.gatekeeper.admit(head.headers)
    if isinstance(caller, Failure):
        return Answered(reply=problem(caller))
    allowed = cors.response_headers(head.headers)
    endpoint = site.endpoints.get(head.path)
    reply = _find_reply(head, endpoint, site)
    if reply is not None or endpoint is None or caller is None:
        return Answered(reply=with_headers(reply or problem(fail("PATH_UNKNOWN")), allowed))
    return Admitted(endpoint=endpoint, caller=caller, head=head, cors=allowed)


def _find_reply(head: RequestHead, endpoint: Endpoint | None, site: Site) -> Reply | None:
    """Rules 2, 4 and 6: what an admitted caller gets without asking an endpoint."""
    if head.method == "OPTIONS":
        return Reply(status=204, headers=cors.preflight_headers(head.headers))
    if head.path == HEALTH_PATH and head.method in ("GET", "HEAD"):
        return Reply(body=site.health)
    fault = find_content_fault(head.headers, endpoint.answers_in) if endpoint is not None and head.method == "POST" else None
    return None if fault is None else problem(fault)


def find_framing_fault(head: RequestHead) -> Failure | None:
    """HTTP_MALFORMED for a body whose end another HTTP parser on the way may see elsewhere (request smuggling).

    RFC 9112, 6.1 and 7.4: the only transfer coding is `chunked`, HTTP/1.0 has none, and `TE` never names it.
    """
    codings = [coding.lower() for coding in head.headers.all("transfer-encoding")]
    if codings and (codings != ["chunked"] or head.version == "1.0"):
        return fail("HTTP_MALFORMED", text="Transfer-Encoding must be exactly 'chunked', and needs HTTP/1.1")
    if any("chunked" in line.lower() for line in head.headers.all("te")):
        return fail("HTTP_MALFORMED", text="TE must not name 'chunked'")
    return None


def find_content_fault(headers: Headers, answers_in: tuple[str, ...]) -> Failure | None:
    """UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE for a POST: JSON in UTF-8 in, the media types of the endpoint out."""
    types = headers.all("content-type")
    is_encoded = any(coding.lower() != "identity" for coding in headers.all("content-encoding"))
    if len(types) != 1 or not _JSON.fullmatch(types[0]) or is_encoded:
        return fail("UNSUPPORTED_MEDIA_TYPE")
    accepted = {part.partition(";")[0].strip().lower() for line in headers.all("accept") for part in line.split(",")}
    if accepted and not all(_is_accepted(each, accepted) for each in answers_in):
        return fail("NOT_ACCEPTABLE")
    return None


def _is_accepted(media_type: str, accepted: set[str]) -> bool:
    return bool(accepted & {media_type, media_type.partition("/")[0] + "/*", "*/*"})


def problem(failure: Failure) -> Reply:
    """A failure outside any JSON-RPC message, as an RFC 9457 problem."""
    headers = (("Content-Type", http_dialect.MEDIA_TYPE), *http_dialect.headers_of(failure).items())
    body = render(http_dialect.render(failure, Facts()))
    return Reply(body=body, status=http_dialect.status_of(failure), headers=headers)


def with_headers(reply: Reply, headers: HeaderFields) -> Reply:
    """The reply with further header fields."""
    return Reply(body=reply.body, status=reply.status, headers=(*reply.headers, *headers)) if headers else reply
