"""`strictwire code`: as people and scripts meet it, with a real engine."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.live import environment

from strictwire.canon.json import parse_object

pytestmark = pytest.mark.slow

PROGRAM = str(Path(sys.executable).parent / "strictwire")
PATIENCE = 120

FILES = {
    "shapes.py": "class Circle:\n    def area(self) -> float:\n        return 1.0\n",
    "use.py": "from shapes import Circle\n\nprint(Circle().area())\n",
    "broken.py": "value: int = 'text'\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(project: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [PROGRAM, "code", *arguments], cwd=project, env=environment(), capture_output=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "code", "output", "status"),
    [
        (("def", "Circle.area"), 0, "shapes.py:2:9: def area(self) -> float:\n", "1 definition; complete; ty "),
        (("def", "use.py:3:16"), 0, "shapes.py:2:9: def area(self) -> float:\n", "1 definition; complete; ty "),
        (("refs", "Circle.area"), 0, "use.py:3:16: print(Circle().area())\n", "1 result; complete; ty "),
        (("symbols", "shapes.py"), 0, "shapes.py:1:7: class Circle\nshapes.py:2:9: method Circle.area\n", "2 symbols; "),
        (("symbols", "Circ"), 0, "shapes.py:1:1: class Circle\n", "1 result; "),
        (("search", "print"), 0, "use.py:3:1: print(Circle().area())\n", "1 result; complete; strictwire "),
        (("diagnostics", "shapes.py"), 0, "", "0 diagnostics; complete; ty "),
    ],
)
def test_a_verb_prints_places_and_says_how_complete_they_are(
    project: Path, arguments: tuple[str, ...], code: int, output: str, status: str
) -> None:
    exit_code, printed, told = run(project, *arguments)

    assert (exit_code, printed) == (code, output)
    assert told.startswith(status)


def test_diagnostics_are_findings(project: Path) -> None:
    for arguments in (("diagnostics",), ("diagnostics", "broken.py")):
        exit_code, printed, _ = run(project, *arguments)

        assert exit_code == 100
        assert printed.startswith("broken.py:1:14: error[")


def test_json_is_the_structured_content(project: Path) -> None:
    answer = parse_object(run(project, "refs", "Circle.area", "--json")[1].encode())

    assert answer["items"][0]["uri"] == (project / "use.py").as_uri()
    assert (answer["completeness"], answer["nextCursor"], answer["unconfirmed"]) == ("complete", None, 0)


def test_an_outline_names_the_most_used_symbols(project: Path) -> None:
    assert "  1 class Circle (1)" in run(project, "outline")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("def", "shapes.py:99:1"), 1, "error NOT_FOUND"),
        (("symbols", "/etc/passwd"), 1, "error WORKSPACE_DENIED"),
        (("search", "(", "--regex"), 2, "error INVALID_PARAMS"),
        (("outline", "--root", "/no/such/folder"), 2, "roots: '/no/such/folder' is not a folder"),
        (("def",), 2, "error: the following arguments are required: PLACE"),
        (("deff", "x"), 2, "invalid choice: 'deff'"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    project: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    exit_code, printed, told = run(project, *arguments)

    assert (exit_code, printed) == (code, "")
    assert words in told


def test_engines_are_listed(project: Path) -> None:
    exit_code, printed, _ = run(project, "engines")

    assert exit_code == 0
    assert "python" in printed
    assert "ty" in printed


def test_a_reader_that_leaves_early_is_no_error(project: Path) -> None:
    (project / "many.py").write_text("needle = 1\n" * 15_000)
    command = f"'{PROGRAM}' code search needle | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=project,
        env=environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (done.returncode, done.stdout.decode()) == (0, "many.py:1:1: needle = 1\n")
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_has_colours_unless_it_wants_none(project: Path, more: dict[str, str], coloured: bool) -> None:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [PROGRAM, "code", "search", "print"], cwd=project, env=environment(more), stdout=theirs,
            stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True,
        )  # fmt: skip
        printed = os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    assert ("\x1b[35muse.py\x1b[0m" in printed) is coloured


def test_help_has_examples() -> None:
    done = subprocess.run([PROGRAM, "code", "--help"], capture_output=True, timeout=PATIENCE, check=True)

    assert b"strictwire code refs" in done.stdout
