"""The table of standard library types that msgspec does not convert, or whose schema it leaves open."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import ipaddress
import pathlib
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """How one type is described and converted."""

    schema: JsonObject
    read: Callable[[str], Any] | None = None
    """Makes the value from its text. None: msgspec converts it."""
    write: Callable[[Any], str] | None = None
    """Makes the text of a value. None: msgspec converts it."""


NUMERIC_TEXT: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
TIME_TEXT: Final = r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})?$"
"""`format: time` of JSON Schema requires an offset, which times of day seldom have."""


def _text(kind: Callable[[str], Any], format_name: str, **more: Any) -> Leaf:
    return Leaf(schema={"type": "string", "format": format_name, **more}, read=kind, write=str)


def _time_zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except zoneinfo.ZoneInfoNotFoundError as exc:
        raise ValueError("it is no known time zone") from exc


LEAVES: Final[Mapping[Any, Leaf]] = MappingProxyType(
    {
        dt.datetime: Leaf(schema={"type": "string", "format": "date-time"}),
        dt.time: Leaf(schema={"type": "string", "pattern": TIME_TEXT}),
        decimal.Decimal: Leaf(schema={"anyOf": [{"type": "number"}, {"type": "string", "pattern": NUMERIC_TEXT}]}),
        fractions.Fraction: Leaf(
            schema={"type": "string", "pattern": r"^-?[0-9]+(/[1-9][0-9]*)?$"}, read=fractions.Fraction, write=str
        ),
        pathlib.Path: _text(pathlib.Path, "path"),
        pathlib.PurePath: _text(pathlib.PurePath, "path"),
        pathlib.PurePosixPath: _text(pathlib.PurePosixPath, "path"),
        pathlib.PureWindowsPath: _text(pathlib.PureWindowsPath, "path"),
        ipaddress.IPv4Address: _text(ipaddress.IPv4Address, "ipv4"),
        ipaddress.IPv6Address: _text(ipaddress.IPv6Address, "ipv6"),
        ipaddress.IPv4Network: _text(ipaddress.IPv4Network, "ipv4network"),
        ipaddress.IPv6Network: _text(ipaddress.IPv6Network, "ipv6network"),
        ipaddress.IPv4Interface: _text(ipaddress.IPv4Interface, "ipv4interface"),
        ipaddress.IPv6Interface: _text(ipaddress.IPv6Interface, "ipv6interface"),
        zoneinfo.ZoneInfo: _text(_time_zone, "zoneinfo", minLength=1),
    }
)
"""Types with a schema or a conversion of their own. All other types are those of msgspec."""


def write_leaf(value: Any) -> Any:
    """The `enc_hook` of msgspec. Raises TypeError: the value has an unknown type."""
    for kind in type(value).__mro__:
        leaf = LEAVES.get(kind)
        if leaf is not None and leaf.write is not None:
            return leaf.write(value)
    raise TypeError(type(value).__qualname__)
