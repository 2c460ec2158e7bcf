"""What a walk leaves out: ignore rules as git applies them, version control, environments; globs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.workspace.walk import Walk, matches_glob

FILES = {
    ".gitignore": "*.log\n/build/\n!keep.log\n",
    "a.py": "",
    "a.log": "",
    "keep.log": "",
    "build/out.o": "",
    "src/.gitignore": "generated/\n!b.log\n",
    "src/b.log": "",
    "src/build/x.py": "",
    "src/generated/g.py": "",
    "venv/pyvenv.cfg": "",
    "venv/lib/x.py": "",
    "node_modules/m/index.js": "",
    ".git/config": "[core]\n",
    ".git/info/exclude": "private.txt\n",
    "private.txt": "",
}


@pytest.fixture
def jail(tmp_path: Path) -> Iterator[Jail]:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    with Jail(tmp_path) as made:
        yield made


def files(walk: Walk, path: str = ".") -> list[str]:
    return [name for name, kind in walk.everything(path) if kind is Kind.FILE]


def test_what_git_ignores_is_left_out_and_counted(jail: Jail) -> None:
    walk = Walk(jail, include_ignored=False)

    assert files(walk) == [".gitignore", "a.py", "keep.log", "src/.gitignore", "src/b.log", "src/build/x.py"]
    # .git, a.log, build, node_modules, private.txt, venv, src/generated
    assert walk.ignored == 7
    assert [name for name, _ in walk.folder("src")] == ["src/.gitignore", "src/b.log", "src/build"]


def test_everything_is_shown_on_request_and_inside_a_folder_that_is_ignored_itself(jail: Jail) -> None:
    walk = Walk(jail, include_ignored=True)

    assert sorted(files(walk)) == sorted(FILES)
    assert walk.ignored == 0
    assert files(Walk(jail, include_ignored=False), "venv/lib") == ["venv/lib/x.py"]
    assert files(Walk(jail, include_ignored=False), ".git") == [".git/config", ".git/info/exclude"]


def test_an_ignore_file_that_is_a_link_or_too_large_has_no_rules(jail: Jail, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".gitignore").symlink_to("/etc/hostname")
    (tmp_path / "src/.gitignore").write_text("*\n" * (1 << 20))

    assert {"a.log", "src/generated/g.py"} <= set(files(Walk(jail, include_ignored=False)))


def test_the_rules_agree_with_git(jail: Jail, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    (tmp_path / ".git/info/exclude").write_text("private.txt\nvenv/\nnode_modules/\n")
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert files(Walk(jail, include_ignored=False)) == sorted(listed.stdout.split())


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("**/test_*", "tests/x/test_a.py", True),
        ("*.{ts,tsx}", "web/a.tsx", True),
        ("{src,lib}/**", "lib/a", True),
        ("{src,lib}/**", "docs/a", False),
        ("a[1].py", "a[1].py", True),
        (None, "any/thing", True),
    ],
)
def test_globs_match_as_agents_write_them(pattern: str | None, path: str, expected: bool) -> None:
    assert matches_glob(pattern, path) is expected


@pytest.mark.parametrize("pattern", ["{a,b}" * 10, "{a,b,c,d,e}" + "*a" * 250])
def test_a_glob_cannot_stand_for_thousands_of_patterns(pattern: str) -> None:
    with pytest.raises(Refused) as caught:
        matches_glob(pattern, "x")

    assert caught.value.failure.code == "INVALID_INPUT_VALUE"
