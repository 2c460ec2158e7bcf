"""Who may speak to an HTTP endpoint, judged from the head of the request before its body is read. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import Final

from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names under which this machine reaches itself."""

_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"https?://(?P<host>[^/?#@\\]+)")
_JSON: Final = re.compile(r"application/json\s*(?:;\s*charset\s*=\s*\"?utf-8\"?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token, known only by its digest, and whose it is."""

    sha256: str
    principal: str
    role: str | None = None
    tier: str = "core"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatekeeper:
    """The rules of one listener."""

    hosts: frozenset[str] = LOOPBACK
    """Host names that are ours; any port. Without this check a web page could reach us by a name of its own."""
    origins: frozenset[str] = frozenset()
    """Web origins that may call from a browser, besides our own."""
    tokens: tuple[Token, ...] = ()
    """If there are any, every request needs one."""
    anonymous: Caller = field(default_factory=Caller)
    """Who a caller without a token is, where none is needed."""

    def admit(self, headers: Headers) -> Caller | Failure:
        """The caller, or why not.

        1. exactly one Host, and one of ours (HOST_DENIED)
        2. an Origin, if there is one, that is ours or allowed (ORIGIN_DENIED)
        3. a token where tokens are configured (UNAUTHENTICATED)
        """
        return self.find_foreign(headers) or self._identify(headers)

    def find_foreign(self, headers: Headers) -> Failure | None:
        """Rungs 1 and 2 alone: a browser asks leave (OPTIONS) before it may send a token."""
        hosts = headers.all("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return fail("HOST_DENIED")
        origins = headers.all("origin")
        if origins and (len(origins) > 1 or not self.allows_origin(origins[0], hosts[0])):
            return fail("ORIGIN_DENIED")
        return None

    def allows_origin(self, origin: str, host: str) -> bool:
        """Allowed by name, or the very host that is asked."""
        found = _ORIGIN.fullmatch(origin)
        return origin in self.origins or (found is not None and found["host"].lower() == host.lower())

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and found["name"].lower() in self.hosts

    def _identify(self, headers: Headers) -> Caller | Failure:
        if not self.tokens:
            return self.anonymous
        given = headers.all("authorization")
        scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        found = hashlib.sha256(secret.strip().encode()).hexdigest()
        # Every token is compared, so that the time taken does not tell which one came close.
        matches = [token for token in self.tokens if hmac.compare_digest(token.sha256, found)]
        if scheme.lower() != "bearer" or not matches:
            return fail("UNAUTHENTICATED")
        owner = matches[0]
        return Caller(principal=owner.principal, role=owner.role, tier=owner.tier)


def find_content_fault(headers: Headers, answers_in: tuple[str, ...]) -> Failure | None:
    """UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE for a POST: JSON in UTF-8 in, the media types of the endpoint out."""
    types = headers.all("content-type")
    if len(types) != 1 or not _JSON.fullmatch(types[0]) or headers.get("content-encoding") not in (None, "identity"):
        return fail("UNSUPPORTED_MEDIA_TYPE")
    accepted = {part.partition(";")[0].strip().lower() for line in headers.all("accept") for part in line.split(",")}
    if accepted and not all(_is_accepted(each, accepted) for each in answers_in):
        return fail("NOT_ACCEPTABLE")
    return None


def _is_accepted(media_type: str, accepted: set[str]) -> bool:
    return bool(accepted & {media_type, media_type.partition("/")[0] + "/*", "*/*"})
