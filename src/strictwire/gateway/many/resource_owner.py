"""Which upstream owns a URI. Pure: decided from what is configured and listed, never by trying one after another.

    1. the first upstream, in their order, with a configured `resources` pattern that matches
    2. the first that lists the URI
    3. the first with a template that matches
    4. the only one that lists anything under the same scheme
    5. the only one that offers resources at all

A URI that no step finds has no owner: offering it to one upstream after another would tell each of them what clients read
from the others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

MAX_TEMPLATE: Final = 2000
"""Characters of a template that are matched; a longer one matches only itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim:
    """What one upstream claims to own."""

    patterns: tuple[str, ...] = ()
    uris: frozenset[str] = frozenset()
    templates: frozenset[str] = frozenset()


def find_listed_owner(uri: str, claims: Sequence[ResourceClaim]) -> int | None:
    """The index of the owner by the first three steps; None if no upstream claims the URI itself."""
    steps = (
        (index for index, claim in enumerate(claims) if any(fnmatchcase(uri, each) for each in claim.patterns)),
        (index for index, claim in enumerate(claims) if uri in claim.uris or uri in claim.templates),
        (index for index, claim in enumerate(claims) if any(matches_template(uri, each) for each in claim.templates)),
    )
    return next(itertools.chain(*steps), None)


def find_owner(uri: str, claims: Sequence[ResourceClaim]) -> int | None:
    """The index of the owner."""
    listed = find_listed_owner(uri, claims)
    if listed is not None:
        return listed
    sharing = [index for index, claim in enumerate(claims) if _scheme(uri) in map(_scheme, claim.uris | claim.templates)]
    found = sharing or list(range(len(claims)))
    return found[0] if len(found) == 1 else None


def matches_template(uri: str, template: str) -> bool:
    """Whether a URI could have been made from an RFC 6570 template. An expression stands for any text.

    Matched as a shell pattern: as a regular expression, a hostile template could take exponential time.
    """
    return len(template) <= MAX_TEMPLATE and fnmatchcase(uri, _as_pattern(template))


def _as_pattern(template: str) -> str:
    literals = re.split(r"\{[^{}]*\}", template)
    return "*".join(re.sub(r"([*?[])", r"[\1]", each) for each in literals)


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()
