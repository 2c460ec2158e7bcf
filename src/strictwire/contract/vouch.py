"""Vouching for a result: that it fits its schema and is JSON, with its bytes, in fewer steps than asking both one by one.

In general only reading back what an encoder wrote shows what it bent (`canon.json.as_json`). Where the schema says all that
a value may hold there is a shorter way: what equals its own copy of plain dictionaries, lists, texts and numbers holds
nothing else. Only the yes counts; what is not vouched for is asked in the usual way.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from decimal import FloatOperation, getcontext
from functools import cache
from typing import Any, Final, TypeAlias

from msgspec import ValidationError, convert, defstruct

from strictwire.canon.json import JsonObject, render
from strictwire.contract.typed import maybe_plain_type

Vouch: TypeAlias = Callable[[Any], bytes | None]

_NULL: Final = b"null"
"""What NaN and infinity are written as: a value whose bytes hold it may be one."""

_APART: Final = Context()
"""Where values are compared: asking for the flags of decimals leaves something behind in the context that it is done in, and
that of a call is the handler's own."""


def voucher(schema: JsonObject) -> Vouch:
    """Gives the bytes of values that fit the schema and are JSON as they are; None for all others, and for some of those.

    The type is made when the first value comes.
    """

    @cache
    def find() -> Any:
        made = maybe_plain_type(schema)
        # msgspec looks through the annotations of a struct only once, but every time through those of a bare dictionary.
        return None if made is None else defstruct("Held", [("value", made)], gc=False)

    def vouch(value: Any) -> bytes | None:
        made = find()
        if made is None:
            return None
        try:
            if not _APART.run(_is_same, convert({"value": value}, made).value, value):
                return None
            raw = render(value)
        except (ValidationError, TypeError, ValueError, AttributeError):  # the last of what only looks like a mapping
            return None
        except RuntimeError:  # another thread is comparing
            return None
        return None if _NULL in raw else raw

    return vouch


def _is_same(copy: Any, value: Any) -> bool:
    """Whether they are equal and no decimal is in the place of a float: one is written as text, but equal all the same."""
    flags = getcontext().flags
    before, flags[FloatOperation] = flags[FloatOperation], False
    same = copy == value
    mixed, flags[FloatOperation] = flags[FloatOperation], before
    return same is True and not mixed
