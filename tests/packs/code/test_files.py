"""The list of files: what is in it, and that every change is in the next refresh."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.packs.code.files import Feed, FileChange, Files
from strictwire.packs.kit import watch as watch_module
from strictwire.packs.kit.watch import Drained, Watch

CREATED, CHANGED, DELETED = FileChange.CREATED, FileChange.CHANGED, FileChange.DELETED


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(params=[True, False], ids=["kernel", "compared"])
def watch(request: pytest.FixtureRequest) -> Iterator[Watch]:
    watch = Watch(kernel=request.param)
    yield watch
    watch.close()


class Listing:
    """Files of one root, with paths relative to it."""

    def __init__(self, root: Path, watch: Watch) -> None:
        self._root = root
        self.files = Files((root,), watch)
        self.files.refresh()
        self._feed = self.files.subscribe()

    def names(self) -> list[str]:
        self.files.refresh()
        return [path[len(str(self._root)) + 1 :] for path in self.files.paths]

    def changes(self) -> dict[str, FileChange]:
        self.files.refresh()
        return {path[len(str(self._root)) + 1 :]: change for path, change in self._feed.take().items()}

    def epochs(self) -> tuple[int, int, int]:
        self.files.refresh()
        return self.files.root_changes, self.files.text, self.files.fs


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def test_ignore_files_mean_what_they_mean_to_git(tmp_path: Path, watch: Watch) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n!keep.log\nbuild/\n/top.txt\ndocs/**/*.tmp\n# comment\n\\#hash\n[bad\n",
            "a.log": "",
            "keep.log": "",
            "top.txt": "",
            "sub/top.txt": "",
            "build/out.py": "",
            "sub/build/out.py": "",
            "docs/x/y.tmp": "",
            "docs/y.tmp": "",
            "#hash": "",
            "sub/.gitignore": "!a.log\n*.gen.py\n",
            "sub/a.log": "",
            "sub/m.gen.py": "",
            "sub/deep/.gitignore": "*\n!*.py\n!.gitignore\n",
            "sub/deep/kept.py": "",
            "sub/deep/dropped.txt": "",
            "plain.py": "",
        },
    )
    git(tmp_path, "init", "--quiet")
    (tmp_path / ".git" / "info" / "exclude").write_text("plain.py\n")
    listed = git(tmp_path, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()

    assert Listing(tmp_path, watch).names() == sorted(listed)
    assert "plain.py" not in listed


def test_installed_code_caches_and_links_are_left_out(tmp_path: Path, watch: Watch) -> None:
    write(
        tmp_path,
        {
            "a.py": "",
            ".git/config": "",
            "node_modules/x/index.js": "",
            "__pycache__/a.pyc": "",
            ".cache/clangd/index": "",
            "env/pyvenv.cfg": "",
            "env/lib/site.py": "",
        },
    )
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "loop").symlink_to(".")

    assert Listing(tmp_path, watch).names() == ["a.py"]


def test_every_kind_of_change_is_in_the_next_refresh(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {"a.py": "1", "b.py": "1", "c.py": "1"}), watch)
    (tmp_path / "a.py").write_text("changed")
    (tmp_path / "b.py").unlink()
    (tmp_path / "c.py").rename(tmp_path / "d.py")
    write(tmp_path, {"new/deep/e.py": ""})

    assert listing.changes() == {
        "a.py": CHANGED,
        "b.py": DELETED,
        "c.py": DELETED,
        "d.py": CREATED,
        "new/deep/e.py": CREATED,
    }
    assert listing.changes() == {}
    assert listing.names() == ["a.py", "d.py", "new/deep/e.py"]


def test_files_in_a_folder_that_was_created_later_are_followed(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(tmp_path, watch)
    write(tmp_path, {"new/deep/e.py": ""})
    listing.changes()
    write(tmp_path, {"new/deep/e.py": "changed", "new/deep/f.py": ""})

    assert listing.changes() == {"new/deep/e.py": CHANGED, "new/deep/f.py": CREATED}


def test_a_folder_that_is_moved_away_and_replaced_is_the_new_one(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {"p/a.py": "1", "p/b.py": "1", "q/a.py": "22", "q/c.py": "1"}), watch)
    shutil.rmtree(tmp_path / "p")
    (tmp_path / "q").rename(tmp_path / "p")

    assert listing.changes() == {
        "p/a.py": CHANGED,
        "p/b.py": DELETED,
        "p/c.py": CREATED,
        "q/a.py": DELETED,
        "q/c.py": DELETED,
    }

    write(tmp_path, {"p/c.py": "changed"})

    assert listing.changes() == {"p/c.py": CHANGED}


def test_an_atomic_save_is_one_changed_file(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {"a.py": "1"}), watch)
    (tmp_path / "a.py.tmp").write_text("22")
    (tmp_path / "a.py.tmp").rename(tmp_path / "a.py")

    assert listing.changes() == {"a.py": CHANGED}


def test_a_git_checkout_is_in_the_next_refresh(tmp_path: Path, watch: Watch) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {f"pkg{number}/m.py": "1" for number in range(50)} | {"only/a.py": ""})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    git(tmp_path, "checkout", "--quiet", "-b", "other")
    shutil.rmtree(tmp_path / "only")
    write(tmp_path, {f"pkg{number}/m.py": "22" for number in range(25)} | {"more/b.py": ""})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "--quiet", "-m", "two")
    listing = Listing(tmp_path, watch)
    git(tmp_path, "checkout", "--quiet", "main")

    expected = {f"pkg{number}/m.py": CHANGED for number in range(25)}
    assert listing.changes() == expected | {"only/a.py": CREATED, "more/b.py": DELETED}


def test_many_folders_that_come_and_go_at_once_are_found(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {f"old{number}/m.py": "1" for number in range(40)} | {"a.py": "1"}), watch)
    for number in range(40):
        shutil.rmtree(tmp_path / f"old{number}")
    write(tmp_path, {f"new{number}/m.py": "1" for number in range(40)} | {"a.py": "22"})
    expected = {f"old{number}/m.py": DELETED for number in range(40)} | {
        f"new{number}/m.py": CREATED for number in range(40)
    }

    assert listing.changes() == expected | {"a.py": CHANGED}
    assert listing.changes() == {}


def test_a_changed_ignore_file_changes_the_list(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {"a.py": "", "b.py": ""}), watch)
    write(tmp_path, {".gitignore": "a.py\n"})

    assert listing.changes() == {".gitignore": CREATED, "a.py": DELETED}

    (tmp_path / ".gitignore").unlink()

    assert listing.changes() == {".gitignore": DELETED, "a.py": CREATED}


def test_counters_tell_contents_from_names(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {"a.py": "1"}), watch)
    start = listing.epochs()
    (tmp_path / "a.py").write_text("22")
    after_edit = listing.epochs()
    (tmp_path / "b.py").write_text("")
    after_new = listing.epochs()

    assert (start[2], after_edit[2], after_edit[1] > start[1]) == (start[2], start[2], True)
    assert (after_new[1], after_new[2] > after_edit[2]) == (after_edit[1], True)
    assert listing.epochs() == after_new


def test_changes_in_ignored_files_count_for_nothing(tmp_path: Path, watch: Watch) -> None:
    listing = Listing(write(tmp_path, {".gitignore": "*.log\nout/\n", "a.log": "", "out/x.py": ""}), watch)
    before = listing.epochs()
    write(tmp_path, {"a.log": "1", "out/x.py": "1", "out/y.py": "", ".git/index": "1", "__pycache__/z.pyc": ""})

    assert (listing.epochs(), listing.changes()) == (before, {})


def test_a_root_that_disappears_is_empty_and_comes_back(tmp_path: Path, watch: Watch) -> None:
    root = write(tmp_path / "root", {"a.py": ""})
    listing = Listing(root, watch)
    shutil.rmtree(root)
    gone = listing.names()
    write(root, {"b.py": ""})

    assert (gone, listing.names()) == ([], ["b.py"])
    assert listing.epochs()[0] == 2

    write(root, {"b.py": "1"})

    assert listing.changes()["b.py"] is CREATED


def test_a_root_replaced_by_a_rename_further_up_is_the_new_one(tmp_path: Path, watch: Watch) -> None:
    write(tmp_path / "team" / "root", {"a.py": ""})
    write(tmp_path / "next" / "root", {"b.py": ""})
    listing = Listing(tmp_path / "team" / "root", watch)
    (tmp_path / "team").rename(tmp_path / "old")
    (tmp_path / "next").rename(tmp_path / "team")

    assert listing.names() == ["b.py"]


def test_lost_events_lead_to_a_scan_that_finds_the_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    listing = Listing(write(tmp_path, {"a.py": "1", "b.py": "1"}), watch)
    write(tmp_path, {"a.py": "22", "c.py": ""})
    drains = iter([Drained(changes=(), overflow=True)])
    drain = watch_module.Watch.drain
    monkeypatch.setattr(watch_module.Watch, "drain", lambda self: next(drains, None) or drain(self))

    assert listing.changes() == {"a.py": CHANGED, "c.py": CREATED}

    watch.close()


def test_one_root_inside_another_is_listed_once(tmp_path: Path, watch: Watch) -> None:
    write(tmp_path, {"a.py": "", "inner/b.py": ""})
    files = Files((tmp_path, tmp_path / "inner"), watch)
    files.refresh()

    assert files.paths == (str(tmp_path / "a.py"), str(tmp_path / "inner" / "b.py"))


def test_a_list_that_is_full_says_so(tmp_path: Path, watch: Watch) -> None:
    files = Files((write(tmp_path, {"a.py": "", "b.py": ""}),), watch, max_files=2)
    files.refresh()
    before = files.capped
    write(tmp_path, {"c.py": ""})
    files.refresh()

    assert (before, files.capped, len(files.paths)) == (False, True, 2)


def test_a_feed_merges_what_it_has_not_handed_out_yet() -> None:
    feed = Feed(below="/r/")
    for path, change in (
        ("/r/a", CREATED),
        ("/r/a", CHANGED),
        ("/r/b", DELETED),
        ("/r/b", CREATED),
        ("/r/c", CREATED),
        ("/r/c", DELETED),
        ("/rx/d", CREATED),
    ):
        feed.put(path, change)

    assert feed.take() == {"/r/a": CREATED, "/r/b": CHANGED, "/r/c": DELETED}
    assert feed.take() == {}
