"""Diagnostics: which are kept, which members they have, how files are grouped."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.code.answers.diagnostics import group_by_file, read_diagnostics, read_workspace_diagnostics
from strictwire.packs.code.answers.ids import diagnostic_id
from strictwire.packs.code.answers.ranges import Range

URI = "file:///w/a.py"
PLACE = Range(2, 3, 2, 8)


def raw(**more: Any) -> dict[str, Any]:
    return {"range": PLACE.as_json(), "message": "m", **more}


def shown(message: str = "m", **more: Any) -> dict[str, Any]:
    given = {"severity": None, "code": None, "source": None, **more}
    return {"id": diagnostic_id(URI, PLACE, message=message, **given), "range": PLACE.as_json(), **more, "message": message}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"code": "E1"}, {"code": "E1"}),
        ({"code": ""}, {}),
        ({"code": 2304}, {"code": "2304"}),
        ({"code": 1.5}, {"code": "1.5"}),
        ({"code": 7.0}, {"code": "7"}),
        ({"code": float("inf")}, {}),
        ({"code": True}, {}),
        ({"code": {"value": 12, "target": "x"}}, {"code": "12"}),
        ({"code": {"value": {"value": 1}}}, {}),
        ({"severity": 1}, {"severity": 1}),
        ({"severity": -1}, {}),
        ({"severity": "1"}, {}),
        ({"source": "ty"}, {"source": "ty"}),
        ({"source": ""}, {}),
        ({"source": 3}, {}),
    ],
)
def test_optional_members_are_kept_if_they_are_valid(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert read_diagnostics([raw(**given)], URI) == [shown(**expected)]


@pytest.mark.parametrize("broken", [{"message": ""}, {"message": None}, {"range": None}, {"message": "\udc00"}])
def test_a_diagnostic_without_message_or_range_is_dropped(broken: dict[str, Any]) -> None:
    assert read_diagnostics({"kind": "full", "items": [raw(), {**raw(), **broken}, None, 3]}, URI) == [shown()]


@pytest.mark.parametrize("value", [None, {}, {"items": 5}, 7])
def test_a_report_without_items_is_empty(value: Any) -> None:
    assert read_diagnostics(value, URI) == []


def inside(uri: str) -> str | None:
    return uri.replace("%61", "a") if uri.startswith("file:///w/") else None


def test_two_spellings_of_a_file_are_merged_and_files_outside_or_without_diagnostics_are_dropped() -> None:
    report = {
        "items": [
            {"uri": "file:///w/b.py", "kind": "full", "items": []},
            {"uri": "file:///w/%61.py", "kind": "full", "items": [raw(message="b")]},
            {"uri": URI, "kind": "full", "items": [raw(message="a"), raw(message="b")]},
            {"uri": "file:///etc/a.py", "kind": "full", "items": [raw()]},
            None,
        ]
    }
    other = {URI: [shown("c")]}

    groups, capped = group_by_file([read_workspace_diagnostics(report, inside), other], 200)

    assert groups == [{"uri": URI, "diagnostics": [shown("a"), shown("b"), shown("c")]}]
    assert capped is False


def test_a_file_is_cut_at_its_limit_after_sorting() -> None:
    found = read_diagnostics([raw(message=f"{number:03}") for number in range(201)], URI)

    groups, capped = group_by_file([{URI: list(reversed(found))}], 200)

    assert (groups, capped) == ([{"uri": URI, "diagnostics": found[:200]}], True)
