"""Which upstream owns a name or a URI. Decided from the configuration and from what the upstreams list, never by trying one
after another: that would tell each of them what clients read from the others.

The owner of a URI is:

    1. the first upstream, in their order, with a configured `resources` pattern that matches
    2. the first that listed the URI (see `owners`)
    3. the first with a template that matches and names the scheme
    4. the only one that lists anything under the same scheme
    5. the only one that offers resources at all, once it is known what each of them offers
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from strictwire.client.errors import ClientError
from strictwire.gateway.links.health import UpstreamState
from strictwire.gateway.links.listing import FRESH_SECONDS, LIST_SHAPES, RENEW_SECONDS
from strictwire.gateway.many.naming import find_owners
from strictwire.gateway.many.owners import Owners, is_reserved
from strictwire.gateway.many.upstream_view import UpstreamView
from strictwire.gateway.relayed_call import ClientRequest
from strictwire.profiles.mcp.targets import BEHIND

RESOURCES: Final = "resources/list"
TEMPLATES: Final = "resources/templates/list"
MAX_TEMPLATE: Final = 2000
"""Characters of a template that are matched; a longer one matches only itself."""


MAX_LOGGED: Final = 1000
"""Intrusions into another namespace that are logged. An upstream with ever new names must not fill the log."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
log = logging.getLogger("strictwire.guard")


class KeyCache:
    """The keys of one list of one upstream."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self.last: frozenset[str] = frozenset()
        """The keys as last known. An upstream that is down keeps its keys, so that calls fail with its own failure."""
        self._elapsed = elapsed
        self._lock = asyncio.Lock()
        self._listed_at = float("-inf")
        self._is_stale = True

    @property
    def fresh(self) -> frozenset[str]:
        """The keys if they are fresh; otherwise none."""
        return self.last if self._is_younger_than(FRESH_SECONDS) else frozenset()

    def forget(self) -> None:
        """The list has changed, or may have."""
        self._is_stale = True

    async def renew(self, view: UpstreamView, method: str, request: ClientRequest, seconds: float) -> frozenset[str]:
        """Fetch the list, unless it is very young. If that fails, the last keys stay until the next renewal is due, so that
        the next request does not wait for the same upstream."""
        try:
            async with asyncio.timeout(seconds), self._lock:
                if not self._is_younger_than(RENEW_SECONDS):
                    with contextlib.suppress(ClientError):
                        self.last = await view.fetch_keys(method, request)
                    self._note_listed()
        except TimeoutError:
            self._note_listed()
        return self.last

    def _is_younger_than(self, seconds: float) -> bool:
        return not self._is_stale and self._elapsed() - self._listed_at < seconds

    def _note_listed(self) -> None:
        self._listed_at, self._is_stale = self._elapsed(), False


class Directory:
    """Finds owners, and keeps the keys that each upstream lists."""

    def __init__(
        self, views: Sequence[UpstreamView], elapsed: Callable[[], float], *, owners: Owners, seconds: float
    ) -> None:
        """`seconds` is how long one upstream may take to list its keys."""
        self._views = tuple(views)
        self._by_name = {view.upstream.name: view for view in self._views}
        self._owners = owners
        self._seconds = seconds
        self._namings = {
            method: tuple(view.upstream.naming.for_method(method) for view in self._views) for method in LIST_SHAPES
        }
        self._logged: set[tuple[str, str, str]] = set()
        self._caches = {view.upstream.name: {method: KeyCache(elapsed) for method in LIST_SHAPES} for view in self._views}

    def forget(self, name: str) -> None:
        """The lists of an upstream have changed, or may have."""
        for cache in self._caches[name].values():
            cache.forget()

    async def owner_of_name(self, method: str, client_name: str, request: ClientRequest) -> tuple[UpstreamView, str] | None:
        """The upstream of a tool or a prompt, and its own name for it. `method` lists them.

        If the prefixes leave one upstream, that is the owner, whether or not it lists the name. Otherwise it is the first
        that listed it; and if none did, one that is down: its failure says more than that the name is unknown.
        """
        namings = self._namings[method]
        candidates = [
            (self._views[index], own_name)
            for index in find_owners(client_name, namings)
            if (own_name := namings[index].to_upstream(client_name)) is not None
        ]
        if len(candidates) == 1:
            return candidates[0]
        owner = self._owners.owner_of(method, client_name)
        if owner is not None:
            return next((each for each in candidates if each[0].upstream.name == owner), None)
        offering = [each for each in candidates if BEHIND[method] in each[0].client.offered]
        keys = await asyncio.gather(*(self._renewed(view, method, request) for view, _ in offering))
        for each, listed in zip(offering, keys, strict=True):
            if each[1] in listed and self._owners.claim(method, client_name, each[0].upstream.name):
                return each
        return next((each for each in candidates if each[0].upstream.health.state is UpstreamState.DOWN), None)

    async def owner_of_uri(self, uri: str, request: ClientRequest) -> UpstreamView | None:
        """The upstream of a resource."""
        if is_reserved(uri):
            return None
        owner = self._pattern_owner(uri) or self._owners.owner_of(RESOURCES, uri)
        if owner is not None:
            return self._by_name[owner]
        views = [view for view in self._views if "resources" in view.client.offered]
        known = find_listed_owner(uri, [self._fresh_claim(view) for view in views])
        if known is None:
            claims = await asyncio.gather(*(self._renewed_claim(view, request) for view in views))
            known = find_owner(uri, claims, all_known=all(view.client.offered for view in self._views))
        return None if known is None else views[known]

    def may_offer(self, view: UpstreamView, method: str, own_key: str, shown: str) -> bool:
        """Whether clients may see an entry of an upstream's list: it must own the name or the URI."""
        name = view.upstream.name
        if LIST_SHAPES[method].key == "name":
            namings, index = self._namings[method], self._views.index(view)
            if index not in find_owners(shown, namings) or namings[index].to_upstream(shown) != own_key:
                if (name, method, shown) not in self._logged and len(self._logged) < MAX_LOGGED:
                    self._logged.add((name, method, shown))
                    log.warning("upstream %s offers %r in the namespace of another upstream; not shown", name, shown)
                return False
        elif is_reserved(shown) or self._pattern_owner(shown) not in (None, name):
            return False
        return self._owners.claim(method, shown, name)

    def _pattern_owner(self, uri: str) -> str | None:
        matching = (each.upstream for each in self._views if any(fnmatchcase(uri, one) for one in each.upstream.resources))
        return next((each.name for each in matching), None)

    def _fresh_claim(self, view: UpstreamView) -> ResourceClaim:
        uris, templates = self._cache(view, RESOURCES).fresh, self._cache(view, TEMPLATES).fresh
        return ResourceClaim(uris=uris, templates=templates)

    async def _renewed_claim(self, view: UpstreamView, request: ClientRequest) -> ResourceClaim:
        uris, templates = await asyncio.gather(
            self._renewed(view, RESOURCES, request), self._renewed(view, TEMPLATES, request)
        )
        return ResourceClaim(uris=uris, templates=templates)

    async def _renewed(self, view: UpstreamView, method: str, request: ClientRequest) -> frozenset[str]:
        seconds = min(self._seconds, view.upstream.calls.options.idle_seconds)
        return await self._cache(view, method).renew(view, method, request, seconds)

    def _cache(self, view: UpstreamView, method: str) -> KeyCache:
        return self._caches[view.upstream.name][method]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim:
    """What one upstream lists."""

    uris: frozenset[str] = frozenset()
    templates: frozenset[str] = frozenset()


def find_listed_owner(uri: str, claims: Sequence[ResourceClaim]) -> int | None:
    """The index of the owner by what is listed; None if no upstream lists the URI or a template for it."""
    steps = (
        (index for index, claim in enumerate(claims) if uri in claim.uris or uri in claim.templates),
        (index for index, claim in enumerate(claims) if any(matches_template(uri, each) for each in claim.templates)),
    )
    return next(itertools.chain(*steps), None)


def find_owner(uri: str, claims: Sequence[ResourceClaim], *, all_known: bool = True) -> int | None:
    """The index of the owner. `all_known` says that no further upstream may turn out to offer resources."""
    listed = find_listed_owner(uri, claims)
    if listed is not None:
        return listed
    sharing = [index for index, claim in enumerate(claims) if _scheme(uri) in map(_scheme, claim.uris | claim.templates)]
    found = sharing or (list(range(len(claims))) if all_known else [])
    return found[0] if len(found) == 1 else None


def matches_template(uri: str, template: str) -> bool:
    """Whether a URI could have been made from an RFC 6570 template. An expression stands for any text, except the scheme:
    `{+any}` would claim the resources of every other upstream.

    Matched as a shell pattern: as a regular expression, a hostile template could take exponential time.
    """
    has_scheme = _SCHEME.match(template) is not None
    return has_scheme and len(template) <= MAX_TEMPLATE and fnmatchcase(uri, _as_pattern(template))


def _as_pattern(template: str) -> str:
    literals = re.split(r"\{[^{}]*\}", template)
    return "*".join(re.sub(r"([*?[])", r"[\1]", each) for each in literals)


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()
