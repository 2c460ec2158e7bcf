"""Who owns a name or a URI among several upstreams. What the configuration decides is not looked up."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from strictwire.gateway.links.health import State
from strictwire.gateway.links.listing import SHAPES, Roll
from strictwire.gateway.many.resource_owner import Claim, find_listed, find_place
from strictwire.gateway.many.upstream_view import Visit, Wing, health_of, naming_of

RESOURCES: Final = "resources/list"
TEMPLATES: Final = "resources/templates/list"
_BEHIND: Final = {"tools/list": "tools", "prompts/list": "prompts"}


class Directory:
    """Keeps what each upstream lists, for as long as it is fresh."""

    def __init__(self, wings: Sequence[Wing], elapsed: Callable[[], float], seconds: float) -> None:
        self._wings = tuple(wings)
        self._seconds = seconds
        self._rolls = {id(wing): {method: Roll(elapsed) for method in SHAPES} for wing in self._wings}

    def forget(self, wing: Wing) -> None:
        """Its lists changed, or may have."""
        for roll in self._rolls[id(wing)].values():
            roll.forget()

    async def owner(self, method: str, shown: str, visit: Visit) -> tuple[Wing, str] | None:
        """The upstream of a tool or a prompt, and what it is called there.

        If the prefixes leave one, it is that one, whether it has such a tool or not; otherwise the first that lists it,
        and if none does, one that is down: its failure says more than that nobody knows the name.
        """
        named = [(wing, own) for wing in self._wings if (own := naming_of(wing, method).own(shown)) is not None]
        if len(named) == 1:
            return named[0]
        offering = [(wing, own) for wing, own in named if _BEHIND[method] in wing.offered]
        known = next(((wing, own) for wing, own in offering if own in self._roll(wing, method).fresh), None)
        if known is not None:
            return known
        keys = await asyncio.gather(*(self._keys(wing, method, visit) for wing, _ in offering))
        listing = (each for each, listed in zip(offering, keys, strict=True) if each[1] in listed)
        down = (each for each in named if health_of(each[0]).state is State.DOWN)
        return next(itertools.chain(listing, down), None)

    async def place(self, uri: str, visit: Visit) -> Wing | None:
        """The upstream of a resource; see `routes`."""
        wings = [wing for wing in self._wings if "resources" in wing.offered]
        known = find_listed(uri, [self._claim(wing, self._fresh(wing)) for wing in wings])
        if known is not None:
            return wings[known]
        listed = await asyncio.gather(*(self._renewed(wing, visit) for wing in wings))
        found = find_place(uri, [self._claim(wing, keys) for wing, keys in zip(wings, listed, strict=True)])
        return None if found is None else wings[found]

    def _fresh(self, wing: Wing) -> tuple[frozenset[str], frozenset[str]]:
        return self._roll(wing, RESOURCES).fresh, self._roll(wing, TEMPLATES).fresh

    async def _renewed(self, wing: Wing, visit: Visit) -> tuple[frozenset[str], frozenset[str]]:
        uris, templates = await asyncio.gather(self._keys(wing, RESOURCES, visit), self._keys(wing, TEMPLATES, visit))
        return uris, templates

    def _claim(self, wing: Wing, keys: tuple[frozenset[str], frozenset[str]]) -> Claim:
        return Claim(patterns=wing.warden.resources, uris=keys[0], templates=keys[1])

    async def _keys(self, wing: Wing, method: str, visit: Visit) -> frozenset[str]:
        """What it lists now; what it listed last if it does not answer in time."""
        roll = self._roll(wing, method)
        try:
            async with asyncio.timeout(self._seconds):
                await roll.renew(partial(wing.fetch, method, visit))
        except TimeoutError:
            roll.give_up()
        return roll.last

    def _roll(self, wing: Wing, method: str) -> Roll:
        return self._rolls[id(wing)][method]
