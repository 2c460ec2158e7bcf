"""Compares the tools of an upstream with its lock file. A tool that differs from its pin is quarantined, that tool alone.

A quarantined tool is neither listed nor called: a model would read its new description before a person has reviewed it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotJson
from strictwire.check.breaking import RULES
from strictwire.check.breaking.compare import find_breaking_changes
from strictwire.check.policy import LintPolicy
from strictwire.check.rulesets import RULESETS
from strictwire.check.subject import SourceLocation, Subject, ToolSet
from strictwire.contract.fingerprint import Fingerprint, fingerprint
from strictwire.fault.failure import Failure, fail
from strictwire.sources.entries import read_entries
from strictwire.sources.lock import read_lock, read_pins, write_lock

log = logging.getLogger("strictwire.guard")

MAX_LOGGED: Final = 1000
"""Changes that are logged. A server that changes its tools with every list must not fill the log."""


class ToolPins:
    """The pinned tools of one upstream. Without a lock file, the first whole list is pinned (trust on first use)."""

    def __init__(self, path: Path, *, tools: ToolSet | None = None) -> None:
        """`tools` are those of the lock file; None if there is no file yet."""
        self._path = path
        self._pinned: Mapping[str, Subject] = {}
        self._pins: Mapping[str, Fingerprint] | None = None
        self._logged: set[str] = set()
        self._comparisons: set[asyncio.Future[None]] = set()
        if tools is not None:
            self._adopt(tools)

    def pin_first(self, entries: Iterable[JsonObject]) -> None:
        """Pin a whole list of tools if nothing is pinned yet. Raises SourceRefused: the file cannot be written."""
        if self._pins is not None:
            return
        subjects, _ = read_entries(list(entries), SourceLocation("upstream", "tools"))
        write_lock(self._path, subjects)
        self._adopt(read_lock(self._path))
        log.warning("pinned %d tools in %s on first use; review the file", len(subjects), self._path.name)

    def find_drift(self, entry: JsonObject) -> Failure | None:
        """CONTRACT_CHANGED if an entry of `tools/list` differs from its pin, or was never pinned."""
        subjects, flaws = read_entries([entry], SourceLocation("upstream"))
        name = str(entry.get("name"))
        if self._pins is None:
            return None
        pin = self._pins.get(name)
        try:
            now = None if flaws else fingerprint(subjects[0].contract)
        except NotJson:
            now = None
        if pin is not None and now == pin:
            return None
        aspects = sorted(now.changed_from(pin)) if now is not None and pin is not None else []
        details: JsonObject = {"changed": [each.value for each in aspects]} if aspects else {"reason": "not_pinned"}
        self._log_once(name, subjects, "" if now is None else now.whole, details)
        return fail("CONTRACT_CHANGED", details=details)

    async def close(self) -> None:
        """Wait for comparisons that still run."""
        await asyncio.gather(*self._comparisons, return_exceptions=True)

    def _adopt(self, tools: ToolSet) -> None:
        self._pins = read_pins(tools).pins
        self._pinned = tools.by_name()

    def _log_once(self, name: str, subjects: tuple[Subject, ...], digest: str, details: JsonObject) -> None:
        """Log each change once: at once what differs, and later, when it is known, what that means to callers."""
        if f"{name} {digest}" in self._logged or len(self._logged) >= MAX_LOGGED:
            return
        self._logged.add(f"{name} {digest}")
        log.warning("tool %s is in quarantine: %s", name, details.get("changed") or "not pinned")
        old = self._pinned.get(name)
        if old is not None and subjects:
            comparison = asyncio.get_running_loop().run_in_executor(None, _log_comparison, old, subjects[0])
            self._comparisons.add(comparison)
            comparison.add_done_callback(self._comparisons.discard)


def _log_comparison(old: Subject, new: Subject) -> None:
    """Runs in a thread: comparing two schemas can take seconds."""
    policy = LintPolicy()
    known = {rule.id: rule for rule in RULES}
    rules = {name: known[name] for name in RULESETS[policy.ruleset].breaking if name in known}
    before, after = ToolSet(label="pinned", subjects=(old,)), ToolSet(label="upstream", subjects=(new,))
    report = find_breaking_changes(before, after, rules, policy, version=policy.ruleset)
    found = ", ".join(sorted({each.rule for each in report.findings})) or "nothing that breaks callers"
    log.warning("tool %s compared with its pin: %s", new.contract.name, found)
