"""Removes the values of hidden arguments from failures: exceptions and other servers often quote the arguments they got."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import structs

from strictwire.fault.failure import Failure
from strictwire.fault.redact import MARK

MIN_LENGTH: Final = 8
"""Characters of a value that is removed: keys and tokens are longer, words such as a currency or a kind are shorter."""


def texts_in(values: Iterable[Any]) -> tuple[str, ...]:
    """The texts in JSON values that are long enough to be secrets, the longest first: one may be part of another."""
    return tuple(sorted({each for each in _strings(values) if len(each) >= MIN_LENGTH}, key=len, reverse=True))


def conceal(failure: Failure, texts: tuple[str, ...]) -> Failure:
    """A failure without these texts; the same value if it has none of them."""
    parts = {name: getattr(failure, name) for name in ("text", "details", "cause", "action")}
    if not any(text in each for each in _strings(parts.values()) for text in texts):
        return failure
    return structs.replace(failure, **{name: conceal_value(part, texts) for name, part in parts.items()})


def conceal_value(value: Any, texts: tuple[str, ...]) -> Any:
    """A JSON value without these texts."""
    if isinstance(value, str):
        for text in texts:
            value = value.replace(text, MARK)
        return value
    if isinstance(value, Mapping):
        return {conceal_value(name, texts): conceal_value(each, texts) for name, each in value.items()}
    return [conceal_value(each, texts) for each in value] if isinstance(value, list | tuple) else value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _strings(name)
            yield from _strings(each)
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for each in value:
            yield from _strings(each)
