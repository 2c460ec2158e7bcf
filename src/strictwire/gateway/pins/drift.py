"""The tools of an upstream against the lock file: one that is not as it was pinned is quarantined, alone.

A quarantined tool is neither shown nor called: its new description would be read by a model before anybody reviewed it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotJson
from strictwire.check.breaking import RULES
from strictwire.check.breaking.judge import breaking
from strictwire.check.policy import Policy
from strictwire.check.rulesets import RULESETS
from strictwire.check.subject import Origin, Subject, ToolSet
from strictwire.contract.fingerprint import Fingerprint, fingerprint
from strictwire.fault.failure import Failure, fail
from strictwire.sources.entries import read_entries
from strictwire.sources.lock import pins_of, read_lock, write_lock

log = logging.getLogger("strictwire.guard")

MAX_TOLD: Final = 1000
"""Changes that are told in the log; a server that changes with every list must not fill it."""


class Drift:
    """What was pinned, and what is made of the rest. Without a lock file yet, the first whole list is pinned."""

    def __init__(self, path: Path, *, tools: ToolSet | None = None) -> None:
        self._path = path
        self._pinned: Mapping[str, Subject] = {}
        self._pins: Mapping[str, Fingerprint] | None = None
        self._told: set[str] = set()
        self._verdicts: set[asyncio.Future[None]] = set()
        if tools is not None:
            self._adopt(tools)

    def learn(self, entries: Iterable[JsonObject]) -> None:
        """Trust on first use: pin a whole list if nothing is pinned. Raises SourceRefused: the file cannot be written."""
        if self._pins is not None:
            return
        subjects, _ = read_entries(list(entries), Origin("upstream", "tools"))
        write_lock(self._path, subjects)
        self._adopt(read_lock(self._path))
        log.warning("pinned %d tools in %s on first use; review the file", len(subjects), self._path.name)

    def judge(self, entry: JsonObject) -> Failure | None:
        """CONTRACT_CHANGED if the tool is not as it was pinned."""
        subjects, flaws = read_entries([entry], Origin("upstream"))
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
        self._tell(name, subjects, "" if now is None else now.whole, details)
        return fail("CONTRACT_CHANGED", details=details)

    async def close(self) -> None:
        """Wait for verdicts that are being reached."""
        await asyncio.gather(*self._verdicts, return_exceptions=True)

    def _adopt(self, tools: ToolSet) -> None:
        self._pins = pins_of(tools).pins
        self._pinned = tools.by_name()

    def _tell(self, name: str, subjects: tuple[Subject, ...], mark: str, details: JsonObject) -> None:
        """Once a change: what differs at once, and what that means to callers as soon as it is known."""
        if f"{name} {mark}" in self._told or len(self._told) >= MAX_TOLD:
            return
        self._told.add(f"{name} {mark}")
        log.warning("tool %s is in quarantine: %s", name, details.get("changed") or "not pinned")
        old = self._pinned.get(name)
        if old is not None and subjects:
            judged = asyncio.get_running_loop().run_in_executor(None, _log_verdict, old, subjects[0])
            self._verdicts.add(judged)
            judged.add_done_callback(self._verdicts.discard)


def _log_verdict(old: Subject, new: Subject) -> None:
    """Off the event loop: comparing two schemas can take a while."""
    policy = Policy()
    known = {rule.id: rule for rule in RULES}
    rules = {name: known[name] for name in RULESETS[policy.ruleset].breaking if name in known}
    before, after = ToolSet(label="pinned", subjects=(old,)), ToolSet(label="upstream", subjects=(new,))
    report = breaking(before, after, rules, policy, version=policy.ruleset)
    found = ", ".join(sorted({each.rule for each in report.findings})) or "nothing that breaks callers"
    log.warning("tool %s against its pin: %s", new.contract.name, found)
