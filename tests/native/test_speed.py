"""The module in C is there, and says what its twins in Python say."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.audit import event
from strictwire.canon import digest, json
from strictwire.native import speed
from strictwire.pipeline import prime
from strictwire.profiles import mcp_results

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


def test_the_module_was_made_with_the_package() -> None:
    """`scripts/setup` makes it; without a C compiler there is nothing to compare."""
    assert speed is not None
    ours = mcp_results.word_result, json.keeps_colons, prime.step
    assert ours == (speed.word_result, speed.keeps_colons, speed.step)
    hashing = digest.sha256, event.write_call
    in_python = digest.sha256_in_python, event.write_call_in_python
    assert hashing in ((*(getattr(speed, name, None) for name in ("sha256", "write_call")),), in_python)


@given(JSON, st.integers() | st.text(), st.binary(max_size=40))
def test_results_are_worded_alike(value: Any, request_id: int | str, tail: bytes) -> None:
    given_to_both = str(request_id).encode(errors="replace"), json.render(value), tail

    assert speed.word_result(*given_to_both) == mcp_results.word_result_in_python(*given_to_both)


@pytest.mark.parametrize("size", range(40))
def test_a_result_is_escaped_wherever_a_sign_stands(size: int) -> None:
    for raw in (b'"' * size, b"\\" * size, *(b"x" * place + b'"' + b"y" * (size - place) for place in range(size))):
        assert speed.word_result(b"1", raw, b"}}") == mcp_results.word_result_in_python(b"1", raw, b"}}")


@given(st.binary(max_size=600), st.binary(max_size=600), st.integers(-3, 3))
def test_colons_are_counted_alike(raw: bytes, written: bytes, others: int) -> None:
    expected = json.keeps_colons_in_python(raw, written, others)

    assert speed.keeps_colons(raw, written, others) == expected


@pytest.mark.parametrize("raw", [b"\\u003a", b"::\\u003", b"\\\\u003a", b"\\u00", b"\\", b"", b"\\u\\u003a", b":" * 1000])
def test_hidden_colons_are_found_alike(raw: bytes) -> None:
    count = raw.count(b":")

    assert speed.keeps_colons(raw, b"", count) == json.keeps_colons_in_python(raw, b"", count)


def test_hashes_are_those_of_the_library_at_every_length() -> None:
    """Two blocks and their edges, in every place at which a message can be cut in two."""
    data = bytes(range(256)) * 5
    for size in range(200):
        expected = hashlib.sha256(data[:size]).digest()
        assert [digest.sha256(data[:cut], data[cut:size]) for cut in range(size + 1)] == [expected] * (size + 1)
    assert digest.sha256(data) == hashlib.sha256(data).digest()
    assert digest.sha256() == hashlib.sha256().digest()


@given(st.lists(st.binary(max_size=300), max_size=6))
def test_hashes_are_those_of_the_library(parts: list[bytes]) -> None:
    assert digest.sha256(*parts) == digest.sha256_in_python(*parts) == hashlib.sha256(b"".join(parts)).digest()


def test_the_examples_of_the_standard_hold() -> None:
    """FIPS 180-4 by NIST: one block, two blocks, and a million times the same letter."""
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    two = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

    assert digest.sha256(b"abc").hex() == abc
    assert digest.sha256(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex() == two
    assert digest.sha256(b"a" * 1_000_000).hex() == million


@given(st.text(), st.text(), st.binary(), st.binary(), st.integers(0, 2**64 - 1))
def test_records_of_calls_are_written_alike(stamp: str, opening: str, args: bytes, raw: bytes, duration: int) -> None:
    given_to_both = stamp, opening, args, raw, duration

    assert event.write_call(*given_to_both) == event.write_call_in_python(*given_to_both)


class LikeACoroutine:
    """As compiled code has them: no coroutine by its type."""

    def __init__(self, *steps: object) -> None:
        self._steps = iter(steps)

    def send(self, _given: None) -> object:
        return next(self._steps)

    def __await__(self) -> Any:
        return self


async def _return(value: object) -> object:
    return value


async def _raise(value: BaseException) -> None:
    raise value


def _generate(value: object) -> Any:
    yield value


@types.coroutine
def _wait(value: object) -> Any:
    yield value


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: _return(7), id="returns"),
        pytest.param(lambda: _return(None), id="returns nothing"),
        pytest.param(lambda: _return(StopIteration(7)), id="returns an exception"),
        pytest.param(lambda: _wait(7), id="waits"),
        pytest.param(lambda: _generate(7), id="a generator"),
        pytest.param(lambda: _raise(LookupError("word")), id="raises"),
        pytest.param(lambda: _raise(StopIteration(7)), id="raises what ends it"),
        pytest.param(lambda: _raise(KeyboardInterrupt()), id="is interrupted"),
        pytest.param(lambda: LikeACoroutine(7), id="another type that waits"),
        pytest.param(lambda: LikeACoroutine(), id="another type that returns"),
        pytest.param(lambda: 7, id="no coroutine"),
        pytest.param(lambda: None, id="nothing"),
        pytest.param(lambda: iter([7]), id="an iterator"),
    ],
)
def test_first_steps_are_taken_alike(make: Callable[[], Any]) -> None:
    assert _told(speed.step, make()) == _told(prime.step_in_python, make())


def _told(step: Callable[..., Any], coroutine: Any) -> object:
    """What became of it: its exception, its value, or that it was made to wait; no two values that differ are the same."""
    try:
        value = step(coroutine, lambda waiting, wants: ("waits", waiting is coroutine, wants))
    except BaseException as exc:
        return type(exc), str(exc)
    return type(value), value if not isinstance(value, BaseException) else value.args


def test_what_cannot_be_made_of_one_that_waits_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        speed.step(_wait(7), lambda _waiting, wants: wants // 0)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("step", (None,)),
        ("word_result", ("1", b"{}", b"}}")),
        ("word_result", (b"1", "{}", b"}}")),
        ("word_result", (b"1", b"{}", bytearray(b"}}"))),
        ("word_result", (b"1", b"{}")),
        ("keeps_colons", (b"a", "b", 0)),
        ("keeps_colons", (b"a", b"b")),
        ("keeps_colons", (b"a", b"b", "0")),
        ("sha256", ("text",)),
        ("sha256", (b"a", None)),
        ("write_call", ("t", "o", b"a", b"r")),
        ("write_call", (b"t", "o", b"a", b"r", 1)),
        ("write_call", ("t", "o", "a", b"r", 1)),
        ("write_call", ("t", "o", b"a", b"r", "1")),
    ],
)
def test_other_types_are_refused(function: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        getattr(speed, function, _refuse)(*arguments)


def _refuse(*_arguments: object) -> None:
    raise TypeError("not here: this processor cannot hash")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("write_call", ("t", "o", b"a", b"r", -1)),
        ("write_call", ("t", "o", b"a", b"r", 2**64)),
    ],
)
def test_numbers_out_of_range_are_refused(function: str, arguments: tuple[Any, ...]) -> None:
    assert hasattr(speed, function) == hasattr(speed, "sha256")
    if hasattr(speed, function):
        with pytest.raises(OverflowError):
            getattr(speed, function)(*arguments)
