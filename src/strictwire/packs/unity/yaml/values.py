"""Values of Unity YAML: what a scalar or a reference is. Pure.

Scalars stay text. The file does not say whether `1` is a number, a flag or an enum member; only the C# field does. A
number that is never converted is never changed either.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

Node: TypeAlias = "str | dict[str, Node] | list[Node]"
"""A value. Equal flow collections of one file are one object, so a value must not be changed."""

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


class Quoted(str):
    """A scalar that is quoted in the file, so certainly text."""

    __slots__ = ()


class BadValue(ValueError):
    """A value that is not well-formed."""


class Unfinished(BadValue):
    """A value that the text ends within."""


class Reference(NamedTuple):
    """A reference to an object: `{fileID: N}` in the same file, `{fileID: N, guid: G, type: T}` in another asset."""

    file_id: int
    guid: str = ""
    """Empty for the same file."""


NO_REFERENCE: Final = Reference(0)
"""`{fileID: 0}`, the null of Unity."""


def maybe_reference(value: object) -> Reference | None:
    """The reference that a value is; None if it is none."""
    if not isinstance(value, dict):
        return None
    file_id, guid = value.get("fileID"), value.get("guid", "")
    if not isinstance(file_id, str) or not isinstance(guid, str):
        return None
    number = maybe_file_id(file_id)
    return None if number is None else Reference(number, guid)


def maybe_file_id(text: str | bytes) -> int | None:
    """A signed 64-bit integer; None if the text is none."""
    # Python also reads `1_0`, ` 1` and digits of other scripts as integers.
    if len(text) > _MAX_DIGITS or not text[text[:1] in ("-", b"-") :].isdigit() or not text.isascii():
        return None
    number = int(text)
    return number if INT64_MIN <= number <= INT64_MAX else None


_MAX_DIGITS: Final = 20
"""Characters of a file id with its sign. Longer texts are not converted: that takes quadratic time."""
