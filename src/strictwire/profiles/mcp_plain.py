"""Reading a message as a plain tools/call: one that says nothing but the tool, its arguments and `_meta`.

The shape is read with the bytes, so that nothing is left to ask about members and types; whatever has another shape is no
plain call, for whatever reason, and is read again by those who can tell (`wire.envelope`). Keys that stand twice are found
by counting: see `canon.json.keeps_colons`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, Limits, NotStrict, parse_object
from strictwire.profiles.era import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from strictwire.profiles.mcp_modern import find_meta_fault
from strictwire.wire.envelope import is_request_id
from strictwire.wire.revisions import MODERN

METHOD: Final = "tools/call"

COLONS: Final = 6
"""Of the members that every plain call has: four of the message, two of its parameters."""

MAX_METAS: Final = 64
"""Different `_meta` that are kept. A client sends the same with every call, unless it asks for progress."""

MAX_META_BYTES: Final = 2048
"""Larger ones are not kept."""


class PlainParams(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The parameters of a plain call."""

    name: str
    arguments: JsonObject
    meta: msgspec.Raw | msgspec.UnsetType = msgspec.field(name="_meta", default=msgspec.UNSET)


class PlainCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message that may be a plain call."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: Literal["tools/call"]
    params: PlainParams


class Meta(msgspec.Struct, frozen=True):
    """What the `_meta` of a call says."""

    value: JsonObject
    colons: int
    """In its bytes, and the one before it."""
    names_version: bool
    """Whether it says which modern version the message speaks."""
    is_modern: bool
    """Whether a message of the stateless era may have it."""
    is_legacy: bool
    """Whether a message of a session may."""
    capabilities: Mapping[str, JsonValue]
    token: Any
    level: str | None


read_plain = msgspec.json.Decoder(PlainCall).decode
"""Raises NO_PLAIN_CALL."""

NO_PLAIN_CALL: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def _read_meta(raw: bytes, limits: Limits) -> Meta | None:
    """What a `_meta` says; None if a plain call cannot have it."""
    try:
        value = parse_object(raw, limits)
    except NotStrict:
        return None
    token, able = value.get("progressToken"), value.get(META_CAPABILITIES)
    return Meta(
        value=value,
        colons=raw.count(b":") + 1,
        names_version=META_VERSION in value,
        is_modern=value.get(META_VERSION) == MODERN and isinstance(able, dict) and find_meta_fault(value) is None,
        is_legacy=token is None or is_request_id(token),
        capabilities=able if isinstance(able, dict) else {},
        token=token,
        level=value.get(META_LOG_LEVEL),
    )


NO_META: Final = Meta(
    value={},
    colons=0,
    names_version=False,
    is_modern=False,
    is_legacy=True,
    capabilities={},
    token=None,
    level=None,
)


class Metas:
    """The `_meta` of calls, read once each."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[bytes, Meta] = {}
        self._last, self._last_meta = msgspec.Raw(), NO_META
        """That of the call before, which most often is that of this one, too."""

    def find(self, raw: msgspec.Raw) -> Meta | None:
        """What this one says; None if a plain call cannot have it."""
        return self._last_meta if raw == self._last else self._find(raw)

    def _find(self, raw: msgspec.Raw) -> Meta | None:
        written = bytes(raw)
        meta = self._known.get(written)
        if meta is None:
            meta = _read_meta(written, self._limits)
            if meta is None or meta.token is not None or len(written) > MAX_META_BYTES:
                return meta
            if len(self._known) >= MAX_METAS:
                self._known.clear()
            self._known[written] = meta
        self._last, self._last_meta = msgspec.Raw(written), meta
        return meta
