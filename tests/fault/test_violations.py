"""Schema violations: read from details, rendered as sentences."""

from __future__ import annotations

import pytest

from strictwire.fault.failure import fail
from strictwire.fault.violations import MAX_VIOLATIONS, MAX_WORD, Violation, order_by_severity, read_violations, summarise


def test_violations_are_read_from_the_details() -> None:
    given = {"path": "/a/b", "keyword": "type", "expected": "string", "actual": "null"}

    assert read_violations(fail("INVALID_PARAMS", details={"violations": [given]})) == (
        Violation(path="/a/b", keyword="type", expected="string", actual="null"),
    )


@pytest.mark.parametrize("listed", [None, 3, "text", {"path": "/a"}, [None, 3, {"path": "/a"}, {"keyword": "type"}]])
def test_malformed_violations_are_ignored(listed: object) -> None:
    assert read_violations(fail("INVALID_PARAMS", details={"violations": listed})) == ()  # type: ignore[dict-item]


def test_at_most_ten_violations_are_read_and_long_strings_are_truncated() -> None:
    listed = [{"path": "/" + "x" * 1000, "keyword": "type"}] * 50
    found = read_violations(fail("INVALID_PARAMS", details={"violations": listed}))

    assert len(found) == MAX_VIOLATIONS
    assert len(found[0].path) == MAX_WORD


def test_a_path_without_a_leading_slash_is_a_name() -> None:
    found = read_violations(fail("INVALID_PARAMS", details={"violations": [{"path": "a", "keyword": "type"}]}))

    assert [(each.path, each.parameter, each.argument) for each in found] == [("/a", "a", "a")]


def test_the_argument_is_the_first_name_of_the_pointer() -> None:
    violation = Violation(path="/a~1b~0c/d", keyword="enum")

    assert (violation.parameter, violation.argument) == ("a~1b~0c/d", "a/b~c")


@pytest.mark.parametrize(
    ("violation", "sentence"),
    [
        (Violation(path="/a", keyword="required"), "a is required"),
        (Violation(path="/a", keyword="dependentRequired"), "a is required"),
        (Violation(path="/a", keyword="additionalProperties"), "a is not a known argument"),
        (Violation(path="/a", keyword="type"), "a has the wrong type"),
        (Violation(path="/a", keyword="type", expected="string"), "a must be string"),
        (Violation(path="/a", keyword="type", expected="string", actual="null"), "a must be string, not null"),
        (Violation(path="/a", keyword="minimum", expected="1"), "a must be at least 1"),
        (Violation(path="/a", keyword="minimum"), "a violates minimum"),
        (Violation(path="/a", keyword="exclusiveMaximum", expected="1"), "a must be less than 1"),
        (Violation(path="/a", keyword="maxLength", expected="5"), "a must have a length of at most 5"),
        (Violation(path="/a", keyword="minItems", expected="2"), "a must have at least 2 items"),
        (Violation(path="/a", keyword="enum", expected='["x","{y}"]'), 'a must be one of ["x","{y}"]'),
        (Violation(path="/a", keyword="pattern", expected="^a+$"), "a violates pattern"),
        (Violation(path="", keyword="minProperties"), "the value violates minProperties"),
        (Violation(path="/a", keyword="enum", message="as given"), "as given"),
    ],
)
def test_each_violation_is_a_sentence_without_the_value(violation: Violation, sentence: str) -> None:
    assert violation.sentence == sentence


def test_the_most_severe_violation_comes_first_and_the_sort_is_stable() -> None:
    listed = [
        Violation(path=path, keyword=keyword)
        for path, keyword in (
            ("/1", "enum"),
            ("/2", "format"),
            ("/3", "type"),
            ("/4", "required"),
            ("", "type"),
            ("/6", "enum"),
        )
    ]

    assert [each.path for each in order_by_severity(listed)] == ["", "/4", "/3", "/2", "/1", "/6"]


def test_a_summary_counts_the_other_violations() -> None:
    first, second = Violation(path="/a", keyword="enum"), Violation(path="/b", keyword="required")

    assert (summarise(()), summarise((first,))) == ("", "a violates enum")
    assert summarise((first, second)) == "b is required (and 1 more)"
