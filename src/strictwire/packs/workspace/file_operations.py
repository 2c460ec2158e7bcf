"""File operations in a jail: create folders, remove, move, link and replace files. No link is followed."""

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
    """Create the missing parent folders of a path. Returns those that were created, outermost first.

    Raises Refused: OUTSIDE_WORKSPACE, PATH_NOT_FOUND (a file is in the way), FILE_WRITE_FAILED.
    """
    made: list[str] = []
    for depth in range(len(path.segments) - 1):
        parent = "/".join(path.segments[:depth]) or "."
        with closing(jail.enter(parent)) as folder:
            if _make_folder(folder, path.segments[depth]):
                made.append("/".join(path.segments[: depth + 1]))
    return made


def _make_folder(folder: OpenFolder, name: str) -> bool:
    try:
        os.mkdir(folder.at(name), dir_fd=folder.handle)
        folder.sync()
    except FileExistsError:
        return False
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
    return True


def remove_folders(jail: Jail, made: list[str]) -> None:
    """Remove the folders that `make_folders` created, as far as they are empty."""
    for path in reversed(made):
        asked = parse_path(path)
        with suppress(Refused, OSError), closing(jail.enter(asked.parent.text)) as folder:
            os.rmdir(folder.at(asked.name), dir_fd=folder.handle)


def remove_file(jail: Jail, path: JailPath) -> None:
    """Remove a file and sync its folder. Raises Refused: FILE_NOT_FOUND, FILE_WRITE_FAILED, the codes of Jail.enter."""
    with closing(jail.enter(path.parent.text)) as folder:
        _apply(lambda: os.unlink(folder.at(path.name), dir_fd=folder.handle), folder)


def set_aside(jail: Jail, path: JailPath) -> JailPath:
    """Rename a file to a temporary name in the same folder, so that it can be restored. Returns that name."""
    aside = aside_name(path)
    move_file(jail, path, aside)
    return aside


def move_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Move a file to a name that does not exist. A crash halfway leaves both names.

    Raises Refused: FILE_NOT_FOUND, FILE_ALREADY_EXISTS, FILE_WRITE_FAILED, the codes of Jail.enter.
    """
    with closing(jail.enter(old.parent.text)) as here, closing(jail.enter(new.parent.text)) as there:
        check_file(here, old.name)
        _apply(lambda: _link(here, old.name, there, new.name), there)
        _apply(lambda: os.unlink(here.at(old.name), dir_fd=here.handle), here)


def link_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Give a file a second name (hard link), which must not exist. Raises Refused: the codes of `move_file`."""
    with closing(jail.enter(old.parent.text)) as here, closing(jail.enter(new.parent.text)) as there:
        check_file(here, old.name)
        _apply(lambda: _link(here, old.name, there, new.name), there)


def replace_file(jail: Jail, old: JailPath, new: JailPath) -> None:
    """Replace a file by another one in the same folder, atomically. Raises Refused: the codes of `move_file`."""
    with closing(jail.enter(old.parent.text)) as here:
        names = here.at(old.name), here.at(new.name)
        _apply(lambda: os.replace(*names, src_dir_fd=here.handle, dst_dir_fd=here.handle), here)


def aside_name(path: JailPath) -> JailPath:
    """Return a new temporary name in the folder of a file."""
    return JailPath(segments=(*path.segments[:-1], f"{TEMPORARY}{secrets.token_hex(8)}"))


def check_file(folder: OpenFolder, name: str) -> None:
    """Raises Refused: FILE_NOT_FOUND; FILE_WRITE_FAILED if the name is a link, a folder or a device."""
    try:
        mode = os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False).st_mode
    except FileNotFoundError as exc:
        raise Refused(fail("FILE_NOT_FOUND")) from exc
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
        raise kind_refusal(kinds.get(stat.S_IFMT(mode), "device"), Aim.WRITE)


def _link(here: OpenFolder, old: str, there: OpenFolder, new: str) -> None:
    """Create a hard link. It fails if the new name exists; POSIX rename would replace it."""
    os.link(here.at(old), there.at(new), src_dir_fd=here.handle, dst_dir_fd=there.handle, follow_symlinks=False)


def _apply(change: Callable[[], None], folder: OpenFolder) -> None:
    try:
        change()
        folder.sync()
    except FileExistsError as exc:
        raise Refused(fail("FILE_ALREADY_EXISTS")) from exc
    except FileNotFoundError as exc:
        raise Refused(fail("FILE_NOT_FOUND")) from exc
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
