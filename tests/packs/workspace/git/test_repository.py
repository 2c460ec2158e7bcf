"""Commits to repositories that real git made, in every form that git leaves them in. Real git checks the result."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.workspace.hostile_git import git

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.git.content import Author, Blob, clean_name
from strictwire.packs.workspace.git.repository import Repository

pytestmark = pytest.mark.slow

AUTHOR = Author(name="ada", seconds=1_767_225_600)


def commit(root: Path, *blobs: Blob, message: str = "Change\n\nMore: text\n") -> str | None:
    with Jail(root) as jail:
        return Repository(jail).commit(blobs, message=message, author=AUTHOR)


def reason_of(root: Path, *blobs: Blob) -> tuple[str, str]:
    with pytest.raises(Refused) as caught:
        commit(root, *(blobs or (Blob(path="new", data=b"new"),)))
    return caught.value.failure.code, str(caught.value.failure.details["reason"])


def start(root: Path, *, form: str = "sha1", files: int = 200) -> None:
    """Create a repository with a history that packs into chains of deltas."""
    git(root, "init", "-q", "-b", "main", f"--object-format={form}")
    (root / "src/deep/er").mkdir(parents=True)
    for number in range(files):
        (root / f"src/deep/file-{number}").write_text(f"{number}\n" * 50)
    for version in range(5):
        (root / "src/deep/er/a").write_text(f"{version}\n" * 1000)
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"version {version}")


def as_is(_root: Path) -> None:
    pass


def packed(root: Path) -> None:
    git(root, "gc", "-q", "--aggressive")
    assert not (root / ".git/refs/heads/main").exists()


def packed_by_reference(root: Path) -> None:
    git(root, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f")


def several_packs(root: Path) -> None:
    git(root, "repack", "-q", "-d")
    (root / "src/deep/er/b").write_text("b")
    git(root, "add", "src/deep/er/b")
    git(root, "commit", "-q", "-m", "more", "src/deep/er/b")
    git(root, "repack", "-q", "-d")
    git(root, "multi-pack-index", "write")


def index_version(number: int) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        if number == 3:
            (root / "later").touch()
            git(root, "add", "-N", "later")
        git(root, "update-index", f"--index-version={number}")

    prepare.__name__ = f"index_{number}"
    return prepare


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def shallow(root: Path) -> None:
    (root / ".git/shallow").write_text(git(root, "rev-parse", "HEAD") + "\n")


def replaced(root: Path) -> None:
    git(root, "replace", "HEAD", "HEAD~2")


FORMS = [
    as_is, packed, packed_by_reference, several_packs, *map(index_version, (2, 3, 4)), detached, shallow, replaced,
]  # fmt: skip


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("prepare", FORMS, ids=lambda each: each.__name__)
def test_a_commit_changes_exactly_its_files(tmp_path: Path, form: str, prepare: Callable[[Path], None]) -> None:
    start(tmp_path, form=form)
    (tmp_path / "staged").write_text("staged")
    git(tmp_path, "add", "staged")
    prepare(tmp_path)
    before = git(tmp_path, "rev-parse", "HEAD")
    kept = git(tmp_path, "ls-files", "-s", "staged")
    changes = {"src/deep/er/a": b"new", "src/new/ä b": b"", "top": b"top"}
    for path, data in changes.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "src/deep/file-7").unlink()
    blobs = [Blob(path=path, data=data, is_executable=path == "top") for path, data in changes.items()]
    (tmp_path / "top").chmod(0o755)
    made = commit(tmp_path, *blobs, Blob(path="src/deep/file-7", data=None))

    assert git(tmp_path, "rev-parse", "HEAD") == made
    plain = ("--no-replace-objects", "-c", "core.quotePath=false")
    assert (
        git(tmp_path, *plain, "log", "-1", "--format=%P %an <%ae> %ct %B")
        == f"{before} ada <ada@localhost> 1767225600 Change\n\nMore: text"
    )
    assert git(tmp_path, *plain, "diff-tree", "-r", "--name-status", "--no-commit-id", "HEAD").splitlines() == [
        "M\tsrc/deep/er/a", "D\tsrc/deep/file-7", "A\tsrc/new/ä b", "A\ttop",
    ]  # fmt: skip
    assert git(tmp_path, "ls-tree", "HEAD", "top").startswith("100755 blob")
    assert git(tmp_path, "ls-files", "-s", "staged") == kept
    left = {"A staged"} | ({"A later"} if prepare.__name__ == "index_3" else set())
    assert {" ".join(line.split()) for line in git(tmp_path, *plain, "status", "--porcelain").splitlines()} == left
    git(tmp_path, *plain, "fsck", "--strict", "--no-dangling")
    assert git(tmp_path, "reflog", "-1", "--format=%gn %gs") == "ada commit: Change"


def test_nothing_to_commit_leaves_everything(tmp_path: Path) -> None:
    start(tmp_path, files=3)
    before = git(tmp_path, "rev-parse", "HEAD")
    same = (tmp_path / "src/deep/er/a").read_bytes()

    assert commit(tmp_path, Blob(path="src/deep/er/a", data=same), Blob(path="absent/file", data=None)) is None
    assert git(tmp_path, "rev-parse", "HEAD") == before


def test_files_and_folders_take_each_others_place(tmp_path: Path) -> None:
    start(tmp_path, files=3)
    blobs = [Blob(path=f"src/deep/file-{number}", data=None) for number in range(3)]
    made = commit(tmp_path, *blobs, Blob(path="src/deep/er/a", data=None), Blob(path="src/deep", data=b"file"))
    assert git(tmp_path, "ls-tree", "-r", "--name-only", str(made)) == git(tmp_path, "ls-files") == "src/deep"
    made = commit(tmp_path, Blob(path="src/deep", data=None), Blob(path="src/deep/x", data=b"x"))

    assert git(tmp_path, "ls-tree", "-r", "--name-only", str(made)) == git(tmp_path, "ls-files") == "src/deep/x"
    git(tmp_path, "fsck", "--strict")


def test_a_path_may_be_deeper_than_the_stack_of_python(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    path = "/".join(["d"] * 1500)
    made = commit(tmp_path, Blob(path=path, data=b"x"))

    assert git(tmp_path, "ls-tree", "-r", "--name-only", str(made)) == path


def link(path: str, target: str) -> Callable[[Path], None]:
    """Move a path of the repository elsewhere and leave a link to it."""

    def prepare(root: Path) -> None:
        source, outside = root / path, root.parent / target
        outside.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            source.rename(outside)
        source.parent.mkdir(parents=True, exist_ok=True)
        source.symlink_to(outside)

    prepare.__name__ = f"link {path}"
    return prepare


def write(path: str, text: str) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    prepare.__name__ = f"{path} {text[:30]!r}"
    return prepare


def link_a_fanout_folder(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    for number in range(256):
        folder = root / f".git/objects/{number:02x}"
        if not folder.exists():
            folder.symlink_to(outside)


def split(root: Path) -> None:
    git(root, "update-index", "--split-index")


def borrow(root: Path) -> None:
    outside = root.parent / "outside"
    (root / ".git/objects").rename(outside)
    (root / ".git/objects/info").mkdir(parents=True)
    (root / ".git/objects/info/alternates").write_text(f"{outside}\n")


def bomb(root: Path) -> None:
    """Replace the commit by one that inflates to 2 GiB."""
    name = git(root, "rev-parse", "HEAD")
    path = root / f".git/objects/{name[:2]}/{name[2:]}"
    packer = zlib.compressobj(9)
    head = packer.compress(b"commit 2147483648\0")
    path.chmod(0o600)
    path.write_bytes(head + b"".join(packer.compress(bytes(1 << 20)) for _ in range(2048)) + packer.flush())


def swap(root: Path) -> None:
    """Replace the commit by another valid one."""
    names = git(root, "rev-parse", "HEAD", "HEAD~1").split()
    here, other = (root / f".git/objects/{name[:2]}/{name[2:]}" for name in names)
    here.chmod(0o600)
    here.write_bytes(other.read_bytes())


FAILED, UNSUPPORTED, BUSY = "git_failed", "git_unsupported", "git_busy"


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (link(".git/objects", "outside"), FAILED),
        (link(".git/refs", "outside"), FAILED),
        (link(".git/refs/heads", "outside"), FAILED),
        (link(".git/refs/heads/main", "outside"), FAILED),
        (link(".git/HEAD", "outside"), FAILED),
        (link(".git/index", "outside"), FAILED),
        (link(".git/config", "outside"), FAILED),
        (link(".git/packed-refs", "outside"), None),
        (link(".git/logs", "outside"), None),
        (link(".git/logs/HEAD", "outside"), None),
        (link(".git/objects/pack", "outside"), None),
        (link(".git/index.lock", "outside"), FAILED),
        (link_a_fanout_folder, FAILED),
        (write(".git/HEAD", "ref: refs/heads/../../../outside\n"), FAILED),
        (write(".git/HEAD", "ref: ../outside\n"), FAILED),
        (write(".git/HEAD", "ref: /tmp/outside\n"), FAILED),
        (write(".git/HEAD", "ref: hooks/pre-commit\n"), FAILED),
        (write(".git/HEAD", "ref: config\n"), FAILED),
        (write(".git/HEAD", "ref: refs/heads/x.lock\n"), FAILED),
        (write(".git/HEAD", "ref: refs/heads/a\x1bb\n"), FAILED),
        (write(".git/HEAD", "ref: refs/heads/main/below\n"), FAILED),
        (write(".git/HEAD", "ref: refs/tags/x\n"), FAILED),
        (write(".git/HEAD", "ref: refs/heads/" + "x" * 5000), FAILED),
        (write(".git/HEAD", ""), FAILED),
        (write(".git/refs/heads/main", "ref: refs/heads/main\n"), UNSUPPORTED),
        (write(".git/refs/heads/main", "1" * 40 + "\n"), FAILED),
        (write(".git/refs/heads/main", "1" * 64 + "\n"), FAILED),
        (write(".git/refs/heads/main", "no\n"), FAILED),
        (write(".git/refs/heads/main.lock", ""), BUSY),
        (write(".git/index.lock", ""), BUSY),
        (write(".git/index", "DIRC"), FAILED),
        (write(".git/config", "[core"), FAILED),
        (write(".git/config", "[core]\nrepositoryformatversion = x\n"), FAILED),
        (write(".git/config", "[core]\nrepositoryformatversion = 2\n"), UNSUPPORTED),
        (write(".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n"), UNSUPPORTED),
        (write(".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = md5\n"), UNSUPPORTED),
        (split, UNSUPPORTED),
        (borrow, UNSUPPORTED),
        (bomb, FAILED),
        (swap, FAILED),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_a_hostile_repository_is_refused_and_nothing_outside_changes(
    tmp_path: Path, prepare: Callable[[Path], None], reason: str | None
) -> None:
    """With reason None the part is not needed for the commit, and is neither followed nor changed."""
    root = tmp_path / "work"
    root.mkdir()
    start(root, files=2)
    prepare(root)
    kept = maybe_read(root / ".git/refs/heads/main"), maybe_read(root / ".git/index")
    before = snapshot(tmp_path, besides=root)
    if reason is None:
        assert commit(root, Blob(path="new", data=b"new")) is not None
    else:
        assert reason_of(root) == ("FILE_WRITE_FAILED", reason)
        assert (maybe_read(root / ".git/refs/heads/main"), maybe_read(root / ".git/index")) == kept

    assert snapshot(tmp_path, besides=root) == before


def maybe_read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def snapshot(folder: Path, *, besides: Path) -> dict[str, bytes | None]:
    found = [path for path in folder.rglob("*") if besides not in (path, *path.parents)]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def test_a_reflog_that_is_a_hard_link_does_not_change_its_other_name(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "profile"
    root.mkdir()
    start(root, files=2)
    outside.write_text("kept\n")
    (root / ".git/logs/HEAD").unlink()
    (root / ".git/logs/HEAD").hardlink_to(outside)
    commit(root, Blob(path="new", data=b"new"))

    assert outside.read_text() == "kept\n"
    assert (root / ".git/logs/HEAD").read_text().endswith("commit: Change\n")


def test_a_branch_that_moved_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path, files=2)
    parent = git(tmp_path, "rev-parse", "HEAD~1")
    with Jail(tmp_path) as jail:
        repository, make = Repository(jail), jail.write

        def racing(path: str, *arguments: object) -> None:
            make(path, *arguments)  # type: ignore[arg-type]
            if path == ".git/refs/heads/main.lock":
                (tmp_path / ".git/refs/heads/main").write_text(f"{parent}\n")

        monkeypatch.setattr(jail, "write", racing)
        with pytest.raises(Refused) as caught:
            repository.commit([Blob(path="new", data=b"x")], message="m", author=AUTHOR)

    assert caught.value.failure.details["reason"] == "moved"
    assert git(tmp_path, "rev-parse", "HEAD") == parent
    assert not list((tmp_path / ".git").rglob("*.lock"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_damaged_files_are_refused_and_never_crash(tmp_path: Path, seed: int) -> None:
    """Each round damages one file of the repository: a bit, a byte, a cut or a doubled part."""
    start(tmp_path, files=20)
    packed(tmp_path)
    chance = random.Random(seed)
    targets = [path for path in (tmp_path / ".git").rglob("*") if path.suffix in (".idx", ".pack")]
    targets += [tmp_path / ".git" / name for name in ("index", "config", "HEAD", "packed-refs")]
    kept = {path: path.read_bytes() for path in targets}
    for path in targets:
        path.chmod(0o600)
    outcomes = set()
    for _ in range(60):
        target = chance.choice(targets)
        data = bytearray(kept[target])
        for _ in range(chance.choice((1, 1, 4, 64))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        target.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        try:
            commit(tmp_path, Blob(path="src/deep/er/a", data=chance.randbytes(8)))
            outcomes.add("made")
        except Refused as exc:
            outcomes.add(exc.failure.code)
        target.write_bytes(kept[target])
        (tmp_path / ".git/refs/heads/main").unlink(missing_ok=True)
        for path, raw in kept.items():
            path.write_bytes(raw)

    assert outcomes == {"made", "FILE_WRITE_FAILED"}


@pytest.mark.parametrize(("name", "clean"), [("ada", "ada"), ("a b<c>\n", "a_b_c__"), ("", "unknown"), ("uid:7", "uid:7")])
def test_a_principal_becomes_a_name_that_git_accepts(name: str, clean: str) -> None:
    assert clean_name(name) == clean
