"""Any object that can be raised becomes bounded JSON, and the process survives (S4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fault.failure_strategies import json_values

from strictwire.canon.json import as_json, parse, render
from strictwire.fault import plain as rules
from strictwire.fault.dialects.system_v1 import GovernedError
from strictwire.fault.failure import Facts
from strictwire.fault.plain import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_NAME,
    MAX_NODES,
    MAX_TEXT,
    MORE,
    plain,
    plain_text,
)


class StrRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class CodeRaises(Exception):
    @property
    def code(self) -> str:
        raise RuntimeError("no code")


class ClassRaises:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("no class")


class Nameless(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")


class FromNameless(metaclass=Nameless):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class IterRaises(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no items")


class StrangeText(str):
    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, _key: object) -> str:
        raise RuntimeError("no piece")


class Silent:
    """Has no text of its own; its repr would contain a memory address."""


def _cyclic_dict() -> dict[str, Any]:
    knot: dict[str, Any] = {"name": "knot"}
    knot["self"] = [knot]
    return knot


def _cyclic_exception() -> Exception:
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    return first


def _deep_cause() -> Exception:
    top = ValueError("level 0")
    below = top
    for level in range(1, 10_000):
        below.__cause__ = ValueError(f"level {level}")
        below = below.__cause__
    return top


def _deep_list() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


def _laughs() -> list[Any]:
    laughs: list[Any] = ["ha"]
    for _ in range(12):
        laughs = [laughs] * 40
    return laughs


BAD: dict[str, Callable[[], object]] = {
    "exception": lambda: ValueError("wrong"),
    "exception without text": ValueError,
    "string": lambda: "just text",
    "empty string": lambda: "",
    "dict": lambda: {"code": 7, "nested": {"a": [1, 2.5, None, True]}},
    "none": lambda: None,
    "number": lambda: 42,
    "huge number": lambda: 10**6000,
    "NaN": lambda: math.nan,
    "infinity": lambda: {"x": -math.inf},
    "bytes": lambda: b"\xff\xfe\x00bytes",
    "ten megabytes of text": lambda: "x" * 10_000_000,
    "ten megabytes of bytes": lambda: b"x" * 10_000_000,
    "ten megabytes of message": lambda: RuntimeError("x" * 10_000_000),
    "ten megabytes in a list": lambda: ["x" * 1_000_000] * 10,
    "cyclic dict": _cyclic_dict,
    "cyclic exception": _cyclic_exception,
    "ten thousand causes": _deep_cause,
    "a hundred thousand levels": _deep_list,
    "a billion laughs": _laughs,
    "a hundred thousand members": lambda: {str(number): number for number in range(100_000)},
    "str raises": StrRaises,
    "code raises": CodeRaises,
    "class raises": ClassRaises,
    "name raises": FromNameless,
    "items raise": lambda: IterRaises(a=1),
    "strange text": lambda: StrangeText("strange"),
    "strange message": lambda: ValueError(StrangeText("strange")),
    "lone surrogate": lambda: {"\ud800": "\udfff"},
    "keys that are not text": lambda: {1: "a", None: "b", (1, 2): "c", 1.5: "d"},
    "a set": lambda: {"b", "a", 1},
    "a large set": lambda: set(range(1000)),
    "object": Silent,
    "type": lambda: Silent,
    "function": lambda: len,
    "generator": lambda: (number for number in range(3)),
    "group": lambda: ExceptionGroup("several", [ValueError("one"), OSError(28, "full")]),
    "exit": lambda: SystemExit(3),
    "interrupt": KeyboardInterrupt,
    "mapping proxy": lambda: MappingProxyType({"a": 1}),
}


@pytest.mark.clause("S4")
@pytest.mark.clause("S6")
@pytest.mark.parametrize("name", BAD)
def test_any_raised_object_becomes_a_complete_valid_bounded_envelope(
    name: str, conforms: Callable[[str, Any], list[str]]
) -> None:
    error = GovernedError.from_unknown(BAD[name](), Facts(tool="write_file"))
    envelope = error.to_envelope()
    written = render(envelope)

    assert conforms("system-error-1.0", envelope) == []
    assert parse(written) == envelope
    assert len(written) < 6 * MAX_CHARACTERS
    assert GovernedError.from_unknown(BAD[name](), Facts(tool="write_file")).to_envelope() == envelope


@pytest.mark.clause("S4")
def test_an_exception_is_message_code_and_name() -> None:
    assert plain(ValueError("wrong")) == {"message": "wrong", "code": None, "name": "ValueError"}


@pytest.mark.clause("S4")
def test_an_os_error_has_the_name_of_its_errno() -> None:
    assert plain(FileNotFoundError(2, "No such file", "/tmp/x")) == {
        "message": "[Errno 2] No such file: '/tmp/x'",
        "code": "ENOENT",
        "name": "FileNotFoundError",
    }


@pytest.mark.clause("S4")
def test_the_cause_of_an_exception_is_nested() -> None:
    def fails() -> None:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner

    with pytest.raises(ValueError) as caught:
        fails()

    assert plain(caught.value) == {
        "message": "outer",
        "code": None,
        "name": "ValueError",
        "cause": {"message": "'inner'", "code": None, "name": "KeyError"},
    }


def test_a_suppressed_context_is_omitted() -> None:
    def fails() -> None:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer") from None

    with pytest.raises(ValueError) as caught:
        fails()

    assert plain(caught.value) == {"message": "outer", "code": None, "name": "ValueError"}


def test_the_members_of_an_exception_group_are_listed() -> None:
    group = ExceptionGroup("two", [ValueError("a"), TypeError("b")])

    assert plain(group) == {
        "message": "two (2 sub-exceptions)",
        "code": None,
        "name": "ExceptionGroup",
        "errors": [
            {"message": "a", "code": None, "name": "ValueError"},
            {"message": "b", "code": None, "name": "TypeError"},
        ],
    }


def test_a_cycle_is_cut() -> None:
    assert plain(_cyclic_dict()) == {"name": "knot", "self": [MORE]}


def test_a_shared_value_is_not_a_cycle() -> None:
    part = {"a": 1}

    assert plain([part, part]) == [{"a": 1}, {"a": 1}]


def test_memory_addresses_are_removed() -> None:
    thrown = ValueError(f"bad {Silent()!r}")

    assert plain(Silent()) == "<Silent>"
    assert "0x" not in plain(thrown)["message"]  # type: ignore[index,call-overload,operator]


def test_secrets_are_redacted_by_name_and_by_shape() -> None:
    cause = {"password": "hunter2", "url": "https://me:hunter2@host/", "path": "/home/me/x"}

    assert plain(cause) == {"password": "[redacted]", "url": "https://me:[redacted]@host/", "path": "/home/me/x"}


def test_a_truncated_secret_is_redacted() -> None:
    text = "x" * (MAX_TEXT - 20) + " password=hunter2hunter2hunter2"

    assert "hunter2" not in plain_text(text)


def test_a_list_and_an_object_keep_their_first_members() -> None:
    assert plain(list(range(1000))) == list(range(MAX_ITEMS))
    assert plain({str(number): number for number in range(1000)}) == {str(number): number for number in range(MAX_ITEMS)}


def test_a_truncated_string_ends_with_the_omission_mark() -> None:
    assert plain("x" * 5000) == "x" * (MAX_TEXT - 1) + MORE


@given(value=json_values)
def test_plain_returns_json_and_is_idempotent(value: Any) -> None:
    once = plain(value)

    assert as_json(once)[0] == once
    assert plain(once) == once


@settings(deadline=None, max_examples=20)
@given(
    value=st.recursive(
        st.text(), lambda inner: st.lists(inner, max_size=60) | st.dictionaries(st.text(), inner), max_leaves=60
    )
)
def test_plain_is_idempotent_for_large_values(value: Any) -> None:
    once = plain([value, "x" * 900, {"password": "ab"}] * 9)

    assert plain(once) == once


@given(text=st.text(max_size=300), limit=st.integers(1, 60))
def test_plain_text_keeps_its_limit_and_is_idempotent(text: str, limit: int) -> None:
    once = plain_text(text, limit)

    assert len(once) <= limit
    assert plain_text(once, limit) == once


@given(value=json_values)
def test_the_fast_path_gives_the_same_result(value: Any) -> None:
    assert plain(value) == rules._write(value)


def _nested(levels: int) -> Any:
    return [] if levels == 1 else [_nested(levels - 1)]


AT_THE_BOUNDS: dict[str, Any] = {
    "levels": [_nested(MAX_DEPTH - 1), _nested(MAX_DEPTH), _nested(MAX_DEPTH + 1)],
    "items": [[0] * MAX_ITEMS, [0] * (MAX_ITEMS + 1)],
    "members": [dict.fromkeys(map(str, range(MAX_ITEMS))), dict.fromkeys(map(str, range(MAX_ITEMS + 1)))],
    "nodes": [[[0] * 50] * 4 + [[0] * size] for size in (49, 50)] + [[[0] * 50] * 5 + [0] * size for size in (0, 1)],
    "text": ["x" * MAX_TEXT, "x" * (MAX_TEXT + 1), "é" * MAX_TEXT],
    "name": [{"x" * MAX_NAME: 1}, {"x" * (MAX_NAME + 1): 1}],
    "characters": [["x" * 1000] * 8 + ["x" * size] for size in (191, 192, 193)],
    "integers": [2**63 - 1, 2**63, -(2**63), 1.5, 1e300],
    "secrets": [{"password": "x"}, {"tokens": ["x"]}, {"a": "password=hunter2"}, {"password=hunter2": 1}],
    "types": [(1, 2), {"a": (1,)}, {1: 2}, MappingProxyType({"a": 1}), b"x", StrangeText("x"), {StrangeText("x"): 1}],
}


@pytest.mark.parametrize("name", AT_THE_BOUNDS)
def test_the_fast_path_gives_the_same_result_at_the_bounds(name: str) -> None:
    assert [plain(value) for value in AT_THE_BOUNDS[name]] == [rules._write(value) for value in AT_THE_BOUNDS[name]]
    assert MAX_NODES == 256


def test_a_copy_shares_no_mutable_part() -> None:
    value = {"a": [{"b": 1}]}
    copied = plain(value)
    value["a"][0]["b"] = 2

    assert copied == {"a": [{"b": 1}]}
