"""Which upstream a URI belongs to. Pure: decided from what is configured and listed, never by asking around.

    1. an upstream whose configured `resources` patterns fit
    2. the first, in their order, that lists the URI
    3. the first with a template that fits
    4. the only one that lists anything under the same scheme
    5. the only one that offers resources at all

A URI that no rung finds belongs to nobody: handing it to one upstream after another would tell each what is asked of
the others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

MAX_TEMPLATE: Final = 2000
"""Characters of a template that are read; a longer one fits nothing but itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one upstream claims."""

    patterns: tuple[str, ...] = ()
    uris: frozenset[str] = frozenset()
    templates: frozenset[str] = frozenset()


def find_listed(uri: str, claims: Sequence[Claim]) -> int | None:
    """The first three rungs: somebody claims the URI in so many words."""
    rungs = (
        (index for index, claim in enumerate(claims) if any(fnmatchcase(uri, each) for each in claim.patterns)),
        (index for index, claim in enumerate(claims) if uri in claim.uris or uri in claim.templates),
        (index for index, claim in enumerate(claims) if any(fits_template(uri, each) for each in claim.templates)),
    )
    return next(itertools.chain(*rungs), None)


def find_place(uri: str, claims: Sequence[Claim]) -> int | None:
    """The index of the upstream that a URI belongs to."""
    listed = find_listed(uri, claims)
    if listed is not None:
        return listed
    sharing = [index for index, claim in enumerate(claims) if _scheme(uri) in map(_scheme, claim.uris | claim.templates)]
    found = sharing or list(range(len(claims)))
    return found[0] if len(found) == 1 else None


def fits_template(uri: str, template: str) -> bool:
    """Whether a URI could have been made from an RFC 6570 template: an expression stands for any text.

    A shell pattern and no regular expression of ours: whoever wrote the template must not choose how long matching takes.
    """
    return len(template) <= MAX_TEMPLATE and fnmatchcase(uri, _as_pattern(template))


def _as_pattern(template: str) -> str:
    literals = re.split(r"\{[^{}]*\}", template)
    return "*".join(re.sub(r"([*?[])", r"[\1]", each) for each in literals)


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()
