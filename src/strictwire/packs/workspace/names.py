"""Changing names in folders that the jail has reached: making folders, removing, moving, putting aside. Follows no link."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import closing, suppress

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.refusals import Aim, content_refusal, kind_refusal
from strictwire.packs.kit.root import OpenFolder
from strictwire.packs.kit.staging import TEMPORARY


def make_folders(jail: Jail, path: JailPath) -> list[str]:
    """Make the folders on the way to a path that are not there; those that were made, outermost first.

    Raises Refused: OUTSIDE_WORKSPACE, PATH_NOT_FOUND (a file is in the way), FILE_WRITE_FAILED.
    """
    made: list[str] = []
    for depth in range(len(path.segments) - 1):
        parent = "/".join(path.segments[:depth]) or "."
        with closing(jail.enter(parent)) as place:
            if _make_folder(place, path.segments[depth]):
                made.append("/".join(path.segments[: depth + 1]))
    return made


def _make_folder(place: OpenFolder, name: str) -> bool:
    try:
        os.mkdir(place.at(name), dir_fd=place.handle)
        place.sync()
    except FileExistsError:
        return False
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
    return True


def remove_folders(jail: Jail, made: list[str]) -> None:
    """Take back what `make_folders` made, as far as it is empty."""
    for path in reversed(made):
        asked = parse_path(path)
        with suppress(Refused, OSError), closing(jail.enter(asked.parent.text)) as place:
            os.rmdir(place.at(asked.name), dir_fd=place.handle)


def remove_file(jail: Jail, path: JailPath) -> None:
    """Remove a file, durably. Raises Refused: FILE_NOT_FOUND, FILE_WRITE_FAILED and the codes of Jail.enter."""
    with closing(jail.enter(path.parent.text)) as place:
        _changing(lambda: os.unlink(place.at(path.name), dir_fd=place.handle), place)


def put_aside(jail: Jail, path: JailPath) -> JailPath:
    """Take a file's name away but keep the file under a name of ours beside it, which is returned."""
    aside = name_aside(path)
    move_file(jail, path, aside)
    return aside


def move_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Give a file another name that nobody has; a crash in between leaves both names.

    Raises Refused: FILE_NOT_FOUND, FILE_ALREADY_EXISTS, FILE_WRITE_FAILED and the codes of Jail.enter.
    """
    with closing(jail.enter(old.parent.text)) as here, closing(jail.enter(new.parent.text)) as there:
        check_file(here, old.name)
        _changing(lambda: _link(here, old.name, there, new.name), there)
        _changing(lambda: os.unlink(here.at(old.name), dir_fd=here.handle), here)


def link_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Give a file a second name that nobody has. Raises Refused: the codes of `move_file`."""
    with closing(jail.enter(old.parent.text)) as here, closing(jail.enter(new.parent.text)) as there:
        check_file(here, old.name)
        _changing(lambda: _link(here, old.name, there, new.name), there)


def replace_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Give a file the name of another in the same folder, in one step. Raises Refused: the codes of `move_file`."""
    with closing(jail.enter(old.parent.text)) as here:
        names = here.at(old.name), here.at(new.name)
        _changing(lambda: os.replace(*names, src_dir_fd=here.handle, dst_dir_fd=here.handle), here)


def name_aside(path: JailPath) -> JailPath:
    """A name of ours beside a file."""
    return JailPath(segments=(*path.segments[:-1], f"{TEMPORARY}{secrets.token_hex(8)}"))


def check_file(place: OpenFolder, name: str) -> None:
    """Raises Refused: FILE_NOT_FOUND, FILE_WRITE_FAILED what has the name is a link, a folder or a device."""
    try:
        mode = os.stat(place.at(name), dir_fd=place.handle, follow_symlinks=False).st_mode
    except FileNotFoundError as exc:
        raise Refused(fail("FILE_NOT_FOUND")) from exc
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
        raise kind_refusal(kinds.get(stat.S_IFMT(mode), "device"), Aim.WRITE)


def _link(here: OpenFolder, old: str, there: OpenFolder, new: str) -> None:
    """A second name is refused if it is taken, which no rename of POSIX does."""
    os.link(here.at(old), there.at(new), src_dir_fd=here.handle, dst_dir_fd=there.handle, follow_symlinks=False)


def _changing(change: Callable[[], None], place: OpenFolder) -> None:
    try:
        change()
        place.sync()
    except FileExistsError as exc:
        raise Refused(fail("FILE_ALREADY_EXISTS")) from exc
    except FileNotFoundError as exc:
        raise Refused(fail("FILE_NOT_FOUND")) from exc
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
