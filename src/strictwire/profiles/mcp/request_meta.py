"""What a request of the stateless era states about itself in `_meta`, and its checks. Pure; server and guard share them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.header_echo import find_mismatch
from strictwire.profiles.mcp.targets import malformed
from strictwire.wire.envelope import Request, is_request_id
from strictwire.wire.names import LEVELS, META_CAPABILITIES, META_LOG_LEVEL, META_VERSION
from strictwire.wire.revisions import MODERN_NAMES


class RequestMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The required members, and all of `_meta`."""

    version: str
    capabilities: Mapping[str, JsonValue]
    meta: JsonObject


def read_meta(params: JsonObject) -> RequestMeta | Failure:
    """The required members of `_meta`; MALFORMED_PARAMS names the one that is missing."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return malformed("_meta")
    version, capabilities = meta.get(META_VERSION), meta.get(META_CAPABILITIES)
    if not isinstance(version, str):
        return malformed(META_VERSION)
    if not isinstance(capabilities, dict):
        return malformed(META_CAPABILITIES)
    return RequestMeta(version=version, capabilities=capabilities, meta=meta)


def find_stated_fault(headers: Headers | None, request: Request, meta: RequestMeta) -> Failure | None:
    """HEADER_MISMATCH, or UNSUPPORTED_VERSION with those that are supported."""
    if headers is not None:
        differs = find_mismatch(headers, version=meta.version, method=request.method, params=request.params or {})
        if differs is not None:
            return differs
    return None if meta.version in MODERN_NAMES else unsupported(meta.version, MODERN_NAMES)


def unsupported(requested: str, supported: tuple[str, ...]) -> Failure:
    """UNSUPPORTED_VERSION, naming the versions to use instead."""
    return fail("UNSUPPORTED_VERSION", details={"supported": list(supported), "requested": requested})


def find_meta_fault(meta: JsonObject) -> Failure | None:
    """MALFORMED_PARAMS for optional members that are present and wrong."""
    token, level = meta.get("progressToken"), meta.get(META_LOG_LEVEL)
    if token is not None and not is_request_id(token):
        return malformed("progressToken")
    if level is not None and (not isinstance(level, str) or level not in LEVELS):
        return malformed(META_LOG_LEVEL)
    return None
