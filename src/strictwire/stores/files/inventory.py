"""What may be in the folder of a trail. Finds files that were planted, renamed or removed, without reading them through.

The older files must follow each other without gap or overlap: each is named after its first record, and ends just before
the first record of the next. Names that no reader ever opens are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from typing import Final

from strictwire.audit.chain import maybe_link
from strictwire.audit.verify import Finding, Reason
from strictwire.canon.digest import PREFIX
from strictwire.stores.files.disk import Disk
from strictwire.stores.files.layout import (
    ACTIVE,
    BLOCK,
    CHECKPOINTS,
    HASHES,
    Segment,
    list_segments,
    list_torn,
    read_first,
    torn_name,
)
from strictwire.stores.files.lock import LOCK_NAME
from strictwire.stores.files.search import lines_back

OURS: Final = "audit-log"
"""How every file of a log starts."""

DAMAGED_FOLDER: Final = "audit-log.damaged-"
"""How a folder starts that a repair has set aside."""

_FIXED: Final = frozenset({ACTIVE, HASHES, CHECKPOINTS, LOCK_NAME, "audit-log.mirror"})
"""The mirror is a file of earlier versions, which is not read any more."""
_NUMBERED: Final = re.compile(r"audit-log-[0-9]{12}\.jsonl(\.new)?|audit-log\.torn-[0-9]{12}(\.new)?")
_WORKER: Final = re.compile(r"worker-(0|[1-9][0-9]*)")


def find_stray(disk: Disk) -> Finding | None:
    """The first name that does not belong to the log."""
    for name in sorted(disk.names()):
        if name in _FIXED or _NUMBERED.fullmatch(name):
            is_ours = disk.is_file(name)
        elif name.startswith(DAMAGED_FOLDER) or _WORKER.fullmatch(name):
            is_ours = not disk.is_file(name)
        else:
            is_ours = not name.startswith((OURS, "worker-"))
        if not is_ours:
            return _unexpected(name)
    return None


def find_changed_aside(disk: Disk, set_aside: Mapping[str, str], size: int) -> Finding | None:
    """The first incomplete line that was set aside and is not what its recovery record says."""
    for _, name in list_torn(disk):
        # A crash may come after the line was moved and before that is recorded.
        if name != torn_name(size) and _digest(disk, name) != set_aside.get(name):
            return _unexpected(name)
    return None


def find_gap(disk: Disk, base: int) -> Finding | None:
    """The first place where two files do not follow each other. `base` is where the last prune ended."""
    segments = list_segments(disk)
    for segment, following in pairwise([*segments, Segment("", None)]):
        if segment.name == ACTIVE:
            continue
        last = _last_record(disk, segment)
        if read_first(disk, segment.name) != segment.first or last is None:
            return _unexpected(segment.name)
        # A prune that was interrupted leaves the file that it split beside the part that stays.
        if following.first in (None, last + 1) or (base and following.first == base):
            continue
        if following.first is not None and following.first > last + 1:
            return Finding(reason=Reason.MISSING, record=last + 1, last=following.first - 1)
        return _unexpected(following.name)
    return None


def _last_record(disk: Disk, segment: Segment) -> int | None:
    with closing(disk.open(segment.name)) as file:
        link = maybe_link(next(lines_back(file, file.size()), b""))
    return None if link is None else link.seq


def _digest(disk: Disk, name: str) -> str:
    digest = sha256()
    with closing(disk.open(name)) as file:
        for offset in range(0, file.size(), BLOCK):
            digest.update(file.read(offset, BLOCK))
    return PREFIX + digest.hexdigest()


def _unexpected(name: str) -> Finding:
    return Finding(reason=Reason.UNEXPECTED_FILE, record=0, last=0, name=name)
