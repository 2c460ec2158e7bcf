"""The HTTP rules: as values, and over the wire by each server that drives them."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers
from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.rules import (
    Admitted,
    Answered,
    Decision,
    RequestHead,
    Site,
    decide,
    find_content_fault,
    find_framing_fault,
    problem,
)
from tests.fixtures.live import HttpProcess, modern_headers, request
from tests.transport.http.calls import ADD, wired
from tests.transport.http.endpoints import Unasked

ENDPOINT = Unasked()
SITE = Site(endpoints={"/mcp": ENDPOINT}, gatekeeper=Gatekeeper(), max_body=100)
POSTED = {"Host": "localhost", "Content-Type": "application/json"}


def head_of(method: str = "POST", path: str = "/mcp", version: str = "1.1", **headers: str) -> RequestHead:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return RequestHead(method=method, path=path, headers=Headers(pairs), version=version)


def decided(head: RequestHead) -> Decision:
    return decide(head, SITE)


def test_a_request_that_breaks_no_rule_reaches_its_endpoint() -> None:
    head = head_of(**POSTED)

    assert decided(head) == Admitted(endpoint=ENDPOINT, caller=Caller(), head=head, cors=())


ORDER: dict[str, tuple[dict[str, Any], str]] = {
    "host before all else": ({"method": "OPTIONS", "path": "/nope"}, "HOST_DENIED"),
    "origin before the path": ({"path": "/nope", "Host": "localhost", "Origin": "http://evil"}, "ORIGIN_DENIED"),
    "path before the content": ({"path": "/nope", "Host": "localhost"}, "PATH_UNKNOWN"),
    "content before what is accepted": ({"Host": "localhost", "Accept": "text/html"}, "UNSUPPORTED_MEDIA_TYPE"),
    "what is accepted last": ({**POSTED, "Accept": "text/html"}, "NOT_ACCEPTABLE"),
}


@pytest.mark.parametrize(("parts", "code"), ORDER.values(), ids=ORDER)
def test_the_first_broken_rule_decides(parts: dict[str, Any], code: str) -> None:
    assert decided(head_of(**parts)) == Answered(reply=problem(fail(code)))


def test_a_refused_origin_is_not_allowed_to_read_the_refusal() -> None:
    refused = decided(head_of(Host="localhost", Origin="http://evil"))
    unknown = decided(head_of(path="/nope", Host="localhost", Origin="http://localhost"))

    assert isinstance(refused, Answered)
    assert isinstance(unknown, Answered)
    assert "Access-Control-Allow-Origin" not in dict(refused.reply.headers)
    assert dict(unknown.reply.headers)["Access-Control-Allow-Origin"] == "http://localhost"


def test_a_transfer_coding_is_chunked_and_nothing_else() -> None:
    assert find_framing_fault(head_of(Transfer_Encoding="chunked")) is None
    assert find_framing_fault(head_of(Transfer_Encoding="Chunked")) is None
    assert find_framing_fault(head_of(TE="trailers")) is None
    for coding in ("gzip, chunked", "identity", "chunked, chunked", ""):
        assert find_framing_fault(head_of(Transfer_Encoding=coding)) is not None
    assert find_framing_fault(head_of(Transfer_Encoding="chunked", version="1.0")) is not None
    assert find_framing_fault(head_of(TE="gzip, chunked")) is not None


def test_content_is_json_in_utf_8_and_answers_must_be_welcome() -> None:
    both = ("application/json", "text/event-stream")

    assert find_content_fault(Headers([("Content-Type", "application/json"), ("Accept", "*/*")]), both) is None
    assert find_content_fault(Headers([]), both) == fail("UNSUPPORTED_MEDIA_TYPE")
    twice = [("Content-Type", "application/json")] * 2
    assert find_content_fault(Headers(twice), both) == fail("UNSUPPORTED_MEDIA_TYPE")
    only_json = Headers([("Content-Type", "application/json"), ("Accept", "application/json")])
    assert find_content_fault(only_json, both) == fail("NOT_ACCEPTABLE")
    assert find_content_fault(only_json, ("application/json",)) is None


# Over the wire.


@pytest.mark.parametrize(
    ("verb", "path", "headers", "status", "code"),
    [
        ("GET", "/nope", {}, 404, "PATH_UNKNOWN"),
        ("POST", "/", {}, 404, "PATH_UNKNOWN"),
        ("POST", "/mcp/", {}, 404, "PATH_UNKNOWN"),
        ("POST", "/%6dcp", {}, 404, "PATH_UNKNOWN"),
        ("POST", "/mcp", {"Content-Type": None}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/mcp", {"Content-Type": "text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/mcp", {"Content-Type": "application/json-patch+json"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/mcp", {"Content-Type": "application/json; charset=utf-16"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/mcp", {"Content-Encoding": "gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/mcp", {"Accept": "text/html"}, 406, "NOT_ACCEPTABLE"),
        ("POST", "/mcp", {"Accept": "application/json"}, 406, "NOT_ACCEPTABLE"),
    ],
)
def test_what_http_itself_refuses_is_a_problem_with_its_status(
    either: HttpProcess, verb: str, path: str, headers: dict[str, str | None], status: int, code: str
) -> None:
    with either.connect() as connection:
        connection.write(request(ADD, {**modern_headers(ADD), **headers}, port=either.port, verb=verb, path=path))
        answer = connection.answer()
        connection.write(wired(ADD, either.port))

        assert (answer.status, answer.json()["code"], answer.headers["Content-Type"]) == (
            status,
            code,
            "application/problem+json",
        )
        assert connection.answer().status == 200, "the connection is kept"


@pytest.mark.parametrize("accept", [None, "*/*", "application/*, text/*", "text/event-stream;q=0.5, application/json"])
def test_every_way_to_accept_both_is_accepted(either: HttpProcess, accept: str | None) -> None:
    answer = either.post(ADD, {**modern_headers(ADD), "Accept": accept})  # type: ignore[dict-item]

    assert answer.status == 200


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'])
def test_every_way_to_say_json_is_understood(either: HttpProcess, kind: str) -> None:
    assert either.post(ADD, {**modern_headers(ADD), "Content-Type": kind}).status == 200


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "QUERY"])
def test_the_stateless_era_knows_only_post(either: HttpProcess, verb: str) -> None:
    with either.connect() as connection:
        connection.write(request(b"", {"MCP-Protocol-Version": "2026-07-28"}, port=either.port, verb=verb))
        answer = connection.answer(verb)
        connection.write(wired(ADD, either.port))

        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert connection.answer().status == 200


@pytest.mark.parametrize("verb", ["GET", "HEAD"])
def test_health_needs_no_protocol(either: HttpProcess, verb: str) -> None:
    with either.connect() as connection:
        connection.write(request(b"", port=either.port, verb=verb, path="/healthz?x=1"))
        answer = connection.answer(verb)
        connection.write(wired(ADD, either.port))

        assert (answer.status, answer.body) == (200, b'{"status":"ok"}' if verb == "GET" else b"")
        assert connection.answer().status == 200
