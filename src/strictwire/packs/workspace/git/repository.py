"""The git repository of a workspace: checks that it can be used, and commits to its current branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Final

from dulwich.config import ConfigFile
from dulwich.object_format import OBJECT_FORMATS, ObjectFormat

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.root import Links
from strictwire.packs.workspace.git import index, refs
from strictwire.packs.workspace.git.content import Author, Blob
from strictwire.packs.workspace.git.damage import damaged, reading, unsupported, writing
from strictwire.packs.workspace.git.objects import Objects
from strictwire.packs.workspace.git.trees import Entry, write_tree
from strictwire.packs.workspace.refusal import refuse

_IN_PROGRESS: Final = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
"""Names in `.git` that exist while a merge, cherry-pick, revert or rebase is in progress."""

_MAX_CONFIG: Final = 1024 * 1024

_EXTENSIONS: Final = frozenset(
    {b"objectformat", b"noop", b"preciousobjects", b"partialclone", b"worktreeconfig", b"relativeworktrees"}
)
"""Extensions of the format that change nothing for a commit, and the one that is read. Others, such as refStorage, are
refused. A partial clone is used as far as its objects are there; none is fetched."""


class Repository:
    """The git repository of one workspace. The jail has no guard, because it must write `.git`."""

    def __init__(self, jail: Jail) -> None:
        """Raises Refused: PATH_NOT_FOUND without a repository; FILE_WRITE_FAILED during a merge."""
        if not _is_folder(jail, ".git"):
            text = "The workspace is not the root of a git repository: it has no folder .git; run git init in it"
            raise refuse("PATH_NOT_FOUND", text, "not_a_repository")
        if any(_exists(jail, f".git/{name}") for name in _IN_PROGRESS):
            text = "A merge or rebase is in progress in the repository; finish or abort it first"
            raise refuse("FILE_WRITE_FAILED", text, "in_the_middle")
        for name in ("objects", "refs"):
            if not _is_folder(jail, f".git/{name}"):
                raise damaged(f".git/{name}")
        self._jail = jail

    def commit(self, blobs: Sequence[Blob], *, message: str, author: Author) -> str | None:
        """Commit exactly these files on the current branch. Returns the commit hash, or None if nothing differs.

        Raises Refused: FILE_WRITE_FAILED if the repository cannot be read or written, is in use by another process, or the
        branch was changed in the meantime.
        """
        with writing():
            return self._commit(blobs, message, author)

    def _commit(self, blobs: Sequence[Blob], message: str, author: Author) -> str | None:
        objects = Objects(self._jail, _read_format(self._jail))
        head = refs.read_head(self._jail)
        parent = _tree_of(objects, head.commit) if head.commit else None
        changes = {blob.path: _write_blob(objects, blob) for blob in blobs}
        tree = write_tree(objects, parent, changes)
        if tree == parent:
            return None
        with refs.locked(self._jail, "index"):
            staged = index.updated_index(self._jail, objects.form, changes)
            made = objects.write(b"commit", _render(tree, head.commit, message, author))
            refs.move(self._jail, head, made, logged=f"{author.line}\tcommit: {message.splitlines()[0]}")
            self._jail.write(index.PATH, staged)
        return made


def _read_format(jail: Jail) -> ObjectFormat:
    """Return the hash of the repository. Nothing else of its configuration is used. Raises Refused: FILE_WRITE_FAILED."""
    try:
        raw = jail.read(".git/config", limit=_MAX_CONFIG, links=Links.NEVER)
    except Refused as exc:
        raise damaged(".git/config") from exc
    with reading(".git/config"):
        config = ConfigFile.from_file(BytesIO(raw), expand_includes=False)
        version = int(_value(config, b"core", b"repositoryformatversion", b"0"))
        extensions = _section(config, b"extensions") if version else {}
    unknown = sorted(extensions.keys() - _EXTENSIONS)
    name = extensions.get(b"objectformat", b"sha1").decode("utf-8", "replace")
    if version not in (0, 1) or unknown or name not in OBJECT_FORMATS:
        raise unsupported("a newer repository format", "commit with git instead")
    return OBJECT_FORMATS[name]


def _section(config: ConfigFile, name: bytes) -> Mapping[bytes, bytes]:
    return {key.lower(): value for key, value in config.items((name,))} if config.has_section((name,)) else {}


def _value(config: ConfigFile, section: bytes, name: bytes, default: bytes) -> bytes:
    return _section(config, section).get(name, default)


def _tree_of(objects: Objects, commit: str) -> str:
    if len(commit) != objects.form.hex_length:
        raise damaged("HEAD")
    head, _, _ = objects.read(commit, b"commit").partition(b"\n")
    kind, _, name = head.decode("utf-8", "replace").partition(" ")
    if kind != "tree" or len(name) != objects.form.hex_length or not set(name) <= set("0123456789abcdef"):
        raise damaged(f"object {commit}")
    return name


def _write_blob(objects: Objects, blob: Blob) -> Entry | None:
    if blob.data is None:
        return None
    return Entry((0o100755 if blob.is_executable else 0o100644, objects.write(b"blob", blob.data).encode()))


def _render(tree: str, parent: str | None, message: str, author: Author) -> bytes:
    origin = f"parent {parent}\n" if parent else ""
    return f"tree {tree}\n{origin}author {author.line}\ncommitter {author.line}\n\n{message}".encode()


def _is_folder(jail: Jail, path: str) -> bool:
    """Return whether the path is a real folder. A `.git` file or link leads to a repository outside the workspace."""
    try:
        jail.enter(path).close()
    except Refused:
        return False
    return True


def _exists(jail: Jail, path: str) -> bool:
    try:
        jail.stat(path)
    except Refused:
        return False
    return True
