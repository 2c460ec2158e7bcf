"""Why the type of an argument refused a value that conforms to its schema, as violations that name the argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from strictwire.contract.schema import escape_pointer
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Refused, fail
from strictwire.fault.plain import plain_text
from strictwire.fault.violations import MAX_VIOLATIONS, MAX_WORD, Violation

_PLACE: Final = re.compile(r" - at (?:`key` in )?`\$([^`]*)`$")
"""The end of a message of msgspec, its only form of the path. A key in it may hold anything but a backtick."""

MAX_MASKED: Final = 200
"""Parts of a value that are looked for in a reason. A reason has at most 300 characters."""

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")


def refused_by_type(exc: msgspec.ValidationError, arguments: Mapping[str, Any]) -> Refused:
    """INVALID_PARAMS with the violations of an error.

    A validator of the author gives its reason in its own words, because a model cannot correct a call without it. Parts of
    the value in those words are masked: a violation never contains the value.
    """
    found = list(_violations(exc, ""))[:MAX_VIOLATIONS]
    violations = [replace(each, message=_masked(each, arguments)).as_details() for each in found]
    return Refused(fail("INVALID_PARAMS", stage=Stage.ACCEPT, details={"violations": violations}))


def _violations(exc: BaseException, path: str) -> Iterator[Violation]:
    if isinstance(exc, msgspec.ValidationError):
        text, place = _split(str(exc))
        path += place
        if exc.__cause__ is not None:
            yield from _violations(exc.__cause__, path)
        else:
            yield _violation(path, "format", text[:1].lower() + text[1:])
    elif hasattr(exc, "errors"):  # of pydantic
        for error in exc.errors(include_url=False, include_input=False, include_context=False):
            steps = "".join(f"/{escape_pointer(str(step))}" for step in error["loc"])
            yield _violation(path + steps, str(error["type"]), str(error["msg"]).removeprefix("Value error, "))
    elif isinstance(exc.__cause__, msgspec.ValidationError):  # of a type inside a placeholder
        yield from _violations(exc.__cause__, path)
    else:
        yield _violation(path, "validator", str(exc))


def _masked(violation: Violation, arguments: Any) -> str:
    words = {word for each in islice(_scalars(_value_at(arguments, violation.path)), MAX_MASKED) for word in _words(each)}
    if not words:
        return violation.message
    # Longest first, so that a word inside another one does not leave the rest behind.
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    name, separator, reason = violation.message.partition(": ")
    return name + separator + re.sub(rf"(?<!\w)(?:{known})(?!\w)", "...", reason)


def _words(value: object) -> tuple[str, ...]:
    return tuple(filter(None, (str(value), repr(value)))) if not isinstance(value, bool) and value is not None else ()


def _value_at(value: Any, path: str) -> Any:
    """The value at a pointer, or the nearest one above it: a type may name places that the arguments do not have."""
    for step in path.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            break
    return value


def _scalars(value: Any) -> Iterator[object]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from _scalars(member)
    elif isinstance(value, list):
        for member in value:
            yield from _scalars(member)
    else:
        yield value


def _violation(path: str, keyword: str, reason: str) -> Violation:
    name = path.removeprefix("/") or "the value"
    return Violation(path=path, keyword=keyword, message=plain_text(f"{name}: {reason}", MAX_WORD))


def _split(message: str) -> tuple[str, str]:
    found = _PLACE.search(message)
    if found is None:
        return message, ""
    steps: list[Any] = [name or index or "*" for name, index in _STEP.findall(found[1])]
    return message[: found.start()], "".join(f"/{escape_pointer(str(step))}" for step in steps)
