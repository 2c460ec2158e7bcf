"""Walks a workspace: names in order, depth first, without what git ignores. Links are listed and never followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Final

from strictwire.fault.failure import Refused
from strictwire.packs.kit.ignore import IGNORE_FILES, MAX_RULES, NO_RULES, Rules, is_environment, split_rules
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.root import Links
from strictwire.packs.workspace.plans.scope import matches
from strictwire.packs.workspace.refusal import refuse

MAX_NAMES: Final = 100_000
"""Most names in one folder."""

MAX_GLOBS: Final = 64
"""Alternatives that the braces of one glob stand for."""

MAX_GLOB_CHARACTERS: Final = 2048
"""Characters of all alternatives together. Comparing a path takes at most this times its length."""

_BRACES: Final = re.compile(r"\{([^{}]*)\}")

_OWN_RULES: Final = (*IGNORE_FILES, ".git")
"""Names that decide which rules apply in a folder."""


class Walk:
    """One walk. `ignored` counts the files and folders that were left out, `unnameable` the names that are not UTF-8."""

    def __init__(self, jail: Jail, *, include_ignored: bool) -> None:
        self.jail = jail
        self.unnameable = 0
        self.ignored = 0
        self._include_ignored = include_ignored

    def folder(self, path: str) -> Iterator[tuple[str, Kind]]:
        """Return the names in one folder. Raises Refused: the codes of Jail.list."""
        folder = "/".join(parse_path(path).segments)
        return self._names(folder, self._rules_at(folder))[0]

    def everything(self, path: str) -> Iterator[tuple[str, Kind]]:
        """Return the names in a folder and below. A folder below that cannot be read is listed but not entered.

        Raises Refused: the codes of Jail.list.
        """
        folder = "/".join(parse_path(path).segments)
        pending = [self._names(folder, self._rules_at(folder))]
        while pending:
            names, rules = pending[-1]
            found = next(names, None)
            if found is None:
                pending.pop()
                continue
            yield found
            if found[1] is Kind.FOLDER:
                try:
                    pending.append(self._names(found[0], rules))
                except Refused:
                    continue

    def _names(self, folder: str, outer: Rules | None) -> tuple[Iterator[tuple[str, Kind]], Rules | None]:
        """Return the names in a folder that no rule ignores, and the rules that apply to them."""
        listing = self.jail.list(folder or ".", limit=MAX_NAMES)
        self.unnameable += listing.unnameable
        rules = outer and outer.enter(_rooted(folder), {name for name, _ in listing.entries}, self._read_rules)
        named = ((f"{folder}/{name}" if folder else name, kind) for name, kind in listing.entries)
        return (each for each in named if not self._is_ignored(rules, *each)), rules

    def _is_ignored(self, rules: Rules | None, path: str, kind: Kind) -> bool:
        if rules is None:
            return False
        is_folder = kind is Kind.FOLDER
        found = rules.ignores(_rooted(path), is_folder=is_folder) or (is_folder and self._is_environment(path))
        self.ignored += found
        return found

    def _is_environment(self, path: str) -> bool:
        try:
            return is_environment({name for name, _ in self.jail.list(path, limit=MAX_NAMES).entries})
        except Refused:
            return False

    def _rules_at(self, folder: str) -> Rules | None:
        """Return the rules of the folders above a folder. None, which ignores nothing, if the client asks for everything, or
        for a folder that is itself ignored: then its content is what the client wants."""
        if self._include_ignored:
            return None
        rules, above = NO_RULES, ""
        for name in folder.split("/") if folder else ():
            rules = rules.enter(_rooted(above), _OWN_RULES, self._read_rules)
            above = f"{above}/{name}" if above else name
            if rules.ignores(_rooted(above), is_folder=True) or self._is_environment(above):
                return None
        return rules

    def _read_rules(self, path: str) -> list[str]:
        """Read an ignore file through the jail. A link is not followed, as in git."""
        try:
            raw = self.jail.read(path.lstrip("/"), limit=MAX_RULES, links=Links.NEVER)
        except Refused:
            return []
        return split_rules(raw)


def _rooted(path: str) -> str:
    """Return the form in which `Rules` take a path: with a slash before every name."""
    return f"/{path}" if path else ""


def matches_glob(pattern: str | None, path: str) -> bool:
    """Return whether a path matches a glob: `*` within a name, `**` for any folders, `{a,b}` for alternatives. A glob
    without a slash is compared with the last name, in any folder. No glob matches everything.

    Raises Refused: INVALID_INPUT_VALUE if its braces stand for too many alternatives."""
    if pattern is None:
        return True
    return any(matches(each, path if "/" in each else path.rpartition("/")[2]) for each in _expanded(pattern))


@lru_cache(maxsize=16)
def _expanded(pattern: str) -> tuple[str, ...]:
    """Return the globs that braces stand for."""
    parts = [part.split(",") if index % 2 else [part] for index, part in enumerate(_BRACES.split(pattern))]
    found = tuple("".join(each) for each in islice(product(*parts), MAX_GLOBS + 1))
    if len(found) > MAX_GLOBS or sum(map(len, found)) > MAX_GLOB_CHARACTERS:
        text = f"The braces of glob stand for more than {MAX_GLOBS} alternatives, or {MAX_GLOB_CHARACTERS} characters"
        raise refuse("INVALID_INPUT_VALUE", text, "glob")
    return found
