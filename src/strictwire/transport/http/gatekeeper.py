"""Who may call over HTTP, decided from the head of a request before its body is read: host, origin, token. Pure."""

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
"""Host names of this machine as seen from itself."""

_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"https?://(?P<host>[^/?#@\\]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token, kept as its digest, and the caller that it identifies."""

    sha256: str
    principal: str
    role: str | None = None
    tier: str = "core"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatekeeper:
    """The access rules of one listener."""

    hosts: frozenset[str] = LOOPBACK
    """Host names of this server, with any port. Stops DNS rebinding: a web page whose host name resolves to this machine."""
    origins: frozenset[str] = frozenset()
    """Web origins that may call from a browser, besides the server's own."""
    tokens: tuple[Token, ...] = ()
    """If there are any, every request needs one of them."""
    anonymous: Caller = field(default_factory=Caller)
    """The caller of a request where no tokens are configured."""

    def admit(self, headers: Headers) -> Caller | Failure:
        """Return the caller, or the first rule that the request breaks.

        1. exactly one Host, and a known one (HOST_DENIED)
        2. an Origin, if there is one, that is the server's own or allowed (ORIGIN_DENIED)
        3. a token where tokens are configured (UNAUTHENTICATED)
        """
        return self.find_denial(headers) or self._identify(headers)

    def find_denial(self, headers: Headers) -> Failure | None:
        """Rules 1 and 2 alone, for a CORS preflight (OPTIONS), which never carries a token."""
        hosts = headers.all("host")
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            return fail("HOST_DENIED")
        origins = headers.all("origin")
        if origins and (len(origins) > 1 or not self.allows_origin(origins[0], hosts[0])):
            return fail("ORIGIN_DENIED")
        return None

    def allows_origin(self, origin: str, host: str) -> bool:
        """Whether an origin is allowed by name, or is the host that the request is sent to."""
        found = _ORIGIN.fullmatch(origin)
        return origin in self.origins or (found is not None and found["host"].lower() == host.lower())

    def _is_known(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and found["name"].lower() in self.hosts

    def _identify(self, headers: Headers) -> Caller | Failure:
        if not self.tokens:
            return self.anonymous
        given = headers.all("authorization")
        scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        found = hashlib.sha256(secret.strip().encode()).hexdigest()
        # Every token is compared, so that the time taken does not reveal which one matches.
        matches = [token for token in self.tokens if hmac.compare_digest(token.sha256, found)]
        if scheme.lower() != "bearer" or not matches:
            return fail("UNAUTHENTICATED")
        owner = matches[0]
        return Caller(principal=owner.principal, role=owner.role, tier=owner.tier)
