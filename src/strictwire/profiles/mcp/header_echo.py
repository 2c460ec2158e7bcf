"""Headers that must repeat the body (2026-07-28 over HTTP): version, method, name and annotated arguments."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.contract.registry import ContractRefused
from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Headers
from strictwire.wire.names import NAMED_BY

ANNOTATION: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SENTINEL: Final = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")
_LOOKS_SEALED: Final = re.compile(r"=\?base64\?.*\?=")
_NUMBER: Final = re.compile(r"-?[0-9]{1,16}(?:\.[0-9]{1,16})?")
_SAFE_INTEGER: Final = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """An argument that a header repeats."""

    header: str
    path: tuple[str, ...]
    kind: str


def find_mismatch(headers: Headers, *, version: str, method: str, params: JsonObject) -> Failure | None:
    """HEADER_MISMATCH if a required header is missing, repeated, malformed or different from the body."""
    expected: list[tuple[str, object]] = [("MCP-Protocol-Version", version), ("Mcp-Method", method)]
    if method in NAMED_BY:
        expected.append(("Mcp-Name", params.get(NAMED_BY[method])))
    for name, value in expected:
        # A body member of the wrong type is judged with the parameters; there is nothing to compare a header with.
        if isinstance(value, str) and read_value(headers, name) != value:
            return mismatch(name)
    return None


def find_argument_mismatch(headers: Headers, mirrored: tuple[Mirrored, ...], arguments: JsonObject) -> Failure | None:
    """HEADER_MISMATCH for an annotated argument: present and not null means the header must repeat it.

    An array or object in its place cannot be repeated; the input schema refuses it.
    """
    for each in mirrored:
        value = argument_at(arguments, each.path)
        name = f"Mcp-Param-{each.header}"
        if value is None:
            if headers.all(name.lower()):
                return mismatch(name)
        elif isinstance(value, str | int | float) and not _agrees(read_value(headers, name), value):
            return mismatch(name)
    return None


def mismatch(header: str) -> Failure:
    """The failure, naming the header."""
    return fail("HEADER_MISMATCH", details={"header": header})


def read_value(headers: Headers, name: str) -> str | None:
    """The one value of a header, decoded; None if it is missing, repeated or malformed."""
    values = headers.all(name.lower())
    if len(values) != 1:
        return None
    value = values[0]
    if not value.startswith("=?") or not _LOOKS_SEALED.fullmatch(value):
        return value if value.isascii() else None
    sealed = _SENTINEL.fullmatch(value)
    try:
        return base64.b64decode(sealed[1], validate=True).decode("utf-8") if sealed else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def mirrored_arguments(schema: JsonObject) -> tuple[Mirrored, ...]:
    """The annotated arguments of a tool. Raises ContractRefused: an annotation that clients must not follow."""
    found = tuple(_walk(schema, ()))
    names = [each.header.lower() for each in found]
    if len(set(names)) != len(names):
        raise ContractRefused(f"{ANNOTATION}: header names must differ by more than case")
    return found


def _walk(schema: Any, path: tuple[str, ...]) -> Iterator[Mirrored]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for name, member in properties.items():
        if isinstance(member, dict) and ANNOTATION in member:
            yield _mirrored(member, (*path, name))
        yield from _walk(member, (*path, name))


def _mirrored(member: JsonObject, path: tuple[str, ...]) -> Mirrored:
    header, kind = member[ANNOTATION], member.get("type")
    if not isinstance(header, str) or not _TOKEN.fullmatch(header):
        raise ContractRefused(f"{ANNOTATION} at {'/'.join(path)}: not a header name")
    if kind not in ("string", "integer", "boolean"):
        raise ContractRefused(f"{ANNOTATION} at {'/'.join(path)}: only a string, integer or boolean can be repeated")
    return Mirrored(header=header, path=path, kind=kind)


def argument_at(arguments: Any, path: tuple[str, ...]) -> object:
    """The argument that a path of member names leads to; None if there is none."""
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments


def _agrees(text: str | None, value: object) -> bool:
    if text is None:
        return False
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        return _agrees_as_number(text, value)
    return text == value


def _agrees_as_number(text: str, value: float) -> bool:
    return abs(value) <= _SAFE_INTEGER and _NUMBER.fullmatch(text) is not None and float(text) == value
