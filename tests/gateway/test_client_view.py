"""An upstream's answer as a client sees it."""

from __future__ import annotations

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.client_view import mask_error, mask_result, relayed_status, with_scope, without_tools
from strictwire.gateway.links.link import UpstreamAnswer
from strictwire.wire.revisions import LEGACY_NAMES, MODERN, REVISIONS


def answered(raw: bytes, status: int | None = None) -> UpstreamAnswer:
    message = parse_object(raw)
    return UpstreamAnswer(raw=raw, result=message.get("result"), error=message.get("error"), status=status)


LISTED = b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"b"}, {"name":"c","n":1e2}],"cacheScope":"public"}}'


def test_tools_that_are_left_out_leave_the_bytes_of_the_others() -> None:
    shown = without_tools(answered(LISTED), lambda entry: entry["name"] == "b")

    assert shown.raw == b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"c","n":1e2}],"cacheScope":"public"}}'
    assert shown.result == parse_object(shown.raw)["result"]


@pytest.mark.parametrize("raw", [LISTED, b'{"result":{"tools":5}}', b'{"result":{}}'])
def test_a_list_that_hides_nothing_is_the_one_that_came(raw: bytes) -> None:
    answer = answered(raw)

    assert without_tools(answer, lambda _entry: False) is answer


def test_only_a_scope_that_is_there_is_changed() -> None:
    plain = answered(b'{"id":1,"result":{"tools":[]}}')

    assert with_scope(plain, "private") is plain
    assert with_scope(answered(LISTED), "public").raw is LISTED
    assert parse_object(with_scope(answered(LISTED), "private").raw)["result"]["cacheScope"] == "private"


@pytest.mark.parametrize(
    ("code", "came", "modern", "expected"),
    [
        (-32601, None, True, 404),
        (-32602, None, True, 400),
        (-1, None, True, 200),
        (-1, 422, True, 422),
        (-1, 500, True, 200),
        (-32601, None, False, 200),
        (-32602, 400, False, 200),
    ],
)
def test_the_status_of_an_error_is_its_own_or_that_of_its_code(
    code: int, came: int | None, modern: bool, expected: int
) -> None:
    revision = REVISIONS[MODERN if modern else LEGACY_NAMES[-1]]

    assert relayed_status(UpstreamAnswer(raw=b"", error={"code": code, "message": ""}, status=came), revision) == expected


def test_nothing_is_rewritten_where_nothing_is_masked() -> None:
    error = answered(b'{"id":1,"error":{"code":1,"message":"no such file"}}')
    result = b'{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}'

    assert mask_error(error, {}) is error
    assert mask_result(result, parse_object(result)["result"], {}) is result
