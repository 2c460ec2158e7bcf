"""The check at start: what is offered must be what was reviewed and pinned."""

from __future__ import annotations

from pathlib import Path

from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.registry import Registry
from strictwire.sources.lock import pins_of, read_lock
from strictwire.sources.refused import SourceRefused


class SelfCheckFailed(Exception):
    """The server is not the one that was pinned: a sentence that says which tool, and what to do."""


def check_lock(registry: Registry, lock: str) -> None:
    """Compare every tool with the lock file. Raises SelfCheckFailed: unreadable, or a tool that is not as it was pinned."""
    try:
        pins = pins_of(read_lock(Path(lock))).pins
    except SourceRefused as exc:
        raise SelfCheckFailed(f"the lock file cannot be used: {exc}") from exc
    for name, contract in registry.tools.items():
        if name not in pins:
            raise SelfCheckFailed(f"tool {name!r} is not in {lock}; review it, then run `strictwire pin`")
        changed = sorted(aspect.value for aspect in fingerprint(contract).changed_from(pins[name]))
        if changed:
            raise SelfCheckFailed(
                f"tool {name!r} is not as it was pinned in {lock} ({', '.join(changed)}); see what that breaks with "
                f"`strictwire breaking --against {lock}`, then run `strictwire pin`"
            )
