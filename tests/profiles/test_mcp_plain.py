"""The `_meta` of plain calls: each is read as it is, whatever came before it."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from strictwire.canon.json import JsonObject, Limits, render
from strictwire.profiles.era import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from strictwire.profiles.mcp_plain import MAX_META_BYTES, MAX_METAS, Metas
from strictwire.wire.revisions import MODERN

STATED = {META_VERSION: MODERN, META_CAPABILITIES: {}}
SEEN: dict[str, JsonObject] = {
    "plain": STATED,
    "with a level": {**STATED, META_LOG_LEVEL: "debug"},
    "asks for progress": {**STATED, "progressToken": 7},
    "asks for other progress": {**STATED, "progressToken": 8},
    "large": {**STATED, "note": "x" * MAX_META_BYTES},
    "empty": {},
}


@pytest.mark.parametrize("order", list(itertools.permutations(SEEN, 2)), ids=" then ".join)
def test_each_is_read_as_it_is(order: tuple[str, str]) -> None:
    metas = Metas(Limits())
    for name in (*order, *order[::-1], *order):
        found = metas.find(msgspec.Raw(render(SEEN[name])))

        assert found is not None
        assert found.value == SEEN[name], name
        assert (found.token, found.level) == (SEEN[name].get("progressToken"), SEEN[name].get(META_LOG_LEVEL)), name


def test_many_different_ones_are_not_all_kept() -> None:
    metas = Metas(Limits())
    for number in range(2 * MAX_METAS):
        found = metas.find(msgspec.Raw(render({**STATED, "number": number})))

        assert found is not None
        assert found.value["number"] == number
        assert len(metas._known) <= MAX_METAS


def test_one_that_no_plain_call_can_have_is_not_found() -> None:
    metas = Metas(Limits())

    assert metas.find(msgspec.Raw(b'{"a":1,"a":2}')) is None
    assert metas.find(msgspec.Raw(b'{"a":1,"a":2}')) is None
