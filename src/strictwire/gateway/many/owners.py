"""Who owns the names and URIs that more than one upstream could offer: the first that listed it, until the guard ends.

Names in the namespace of a prefix need no entry here. For all others, an upstream that offers later what another has
offered before would get the calls meant for that other, so it is not shown, and the log says so.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Final

log = logging.getLogger("strictwire.guard")

GUARD_SCHEME: Final = "strictwire-guard"
"""The scheme of the guard's own resources. No upstream can offer a URI with it."""

MAX_CLAIMS: Final = 20_000
"""Names and URIs of one upstream that are remembered, twice the longest list. Further ones have no lasting owner."""


def is_reserved(uri: str) -> bool:
    """Whether a URI belongs to the guard itself."""
    return uri.partition(":")[0].strip().lower() == GUARD_SCHEME


class Owners:
    """The owners of the names and URIs of all upstreams, shared by all clients."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self._logged: set[tuple[str, str]] = set()

    def owner_of(self, method: str, key: str) -> str | None:
        """The upstream that owns an entry of the list that `method` gives."""
        return self._owners.get((method, key))

    def claim(self, method: str, key: str, upstream: str) -> bool:
        """Whether the upstream owns an entry. One without an owner becomes its own."""
        owner = self._owners.get((method, key))
        if owner is None:
            if self._counts[upstream] < MAX_CLAIMS:
                self._owners[method, key] = upstream
                self._counts[upstream] += 1
            return True
        if owner != upstream and (upstream, owner) not in self._logged:
            self._logged.add((upstream, owner))
            log.warning("upstream %s offers %r of %s, which belongs to upstream %s; not shown", upstream, key, method, owner)
        return owner == upstream
