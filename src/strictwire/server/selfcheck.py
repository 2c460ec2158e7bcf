"""The self-check at start-up: every tool must match the lock file."""

from __future__ import annotations

from pathlib import Path

from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.registry import Registry
from strictwire.sources.lock import read_lock, read_pins
from strictwire.sources.refused import SourceRefused


class SelfCheckFailed(Exception):
    """A tool does not match the lock file. The message names the tool and says what to do."""


def check_lock(registry: Registry, lock: str) -> None:
    """Compare every tool with the lock file. Raises SelfCheckFailed: the file is unreadable, or a tool differs from it."""
    try:
        pins = read_pins(read_lock(Path(lock))).pins
    except SourceRefused as exc:
        raise SelfCheckFailed(f"the lock file cannot be read: {exc}") from exc
    for name, contract in registry.tools.items():
        if name not in pins:
            raise SelfCheckFailed(f"tool {name!r} is not in {lock}; review it, then run `strictwire pin`")
        changed = sorted(aspect.value for aspect in fingerprint(contract).changed_from(pins[name]))
        if changed:
            raise SelfCheckFailed(
                f"tool {name!r} differs from {lock} ({', '.join(changed)}); see which changes are breaking with "
                f"`strictwire breaking --against {lock}`, then run `strictwire pin`"
            )
