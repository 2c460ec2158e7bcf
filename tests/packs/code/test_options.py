"""The engines' settings: what they mean, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strictwire.packs.code.engines.spec import EngineSpec, Hint, Rereads, Sign
from strictwire.packs.code.engines.supervised import EngineLimits
from strictwire.packs.code.engines.table import BUILT_IN, DEFAULTS
from strictwire.packs.code.languages import LANGUAGES
from strictwire.packs.code.options import read_options


def test_without_settings_the_working_folder_is_served_with_the_built_in_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = read_options({}, {"PATH": "/bin"})

    assert (options.roots, options.warm, options.choice.engines, options.choice.languages) == (
        (tmp_path,),
        True,
        dict(BUILT_IN),
        dict(DEFAULTS),
    )
    assert (options.choice.limits, options.choice.variables) == (EngineLimits(), {"PATH": "/bin"})


@pytest.mark.parametrize("folder", ["/", "~"])
def test_the_whole_disk_and_the_home_folder_are_not_served_by_accident(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(folder).expanduser())
    with pytest.raises(ValueError, match="too much to serve"):
        read_options({})


def test_roots_are_resolved_sorted_and_unique(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    roots = [str(tmp_path / name) for name in ("b", "link", "a", "a/../b")]

    assert read_options({"roots": roots}).roots == (tmp_path / "a", tmp_path / "b")


def test_limits_and_warm_are_read(tmp_path: Path) -> None:
    table = {"roots": [str(tmp_path)], "warm": False, "memory_mb": 100, "start_seconds": 5, "request_seconds": 7.5}
    options = read_options(table)

    assert (options.warm, options.choice.limits) == (
        False,
        EngineLimits(memory_bytes=100 << 20, start_seconds=5.0, request_seconds=7.5),
    )


def test_another_engine_is_chosen_by_its_name_or_switched_off(tmp_path: Path) -> None:
    options = read_options({"roots": [str(tmp_path)], "languages": {"python": "basedpyright", "cpp": ""}})

    assert options.choice.languages == {"python": "basedpyright", "typescript": "typescript", "cpp": ""}


def test_an_engine_that_is_not_built_in_serves_its_languages_and_is_not_trusted_to_be_ready(tmp_path: Path) -> None:
    table = {
        "roots": [str(tmp_path)],
        "engines": {
            "gopls": {"command": ["gopls", "serve"], "languages": ["go"], "install": "go install gopls"},
            "known": {
                "command": ["known"],
                "languages": ["rust"],
                "rereads": "opened",
                "ready": [{"hint": "progress", "pattern": "indexing"}, {"hint": "diagnostics"}],
                "settings": {"section": {"a": 1}},
                "symbol_limit": 128,
            },
            "ty": {"command": ["/opt/ty", "server"]},
        },
    }
    choice = read_options(table).choice

    assert choice.engines["gopls"] == EngineSpec(
        name="gopls", languages=("go",), command=("gopls", "serve"), install="go install gopls", known_ready=False
    )
    assert choice.engines["known"] == EngineSpec(
        name="known",
        languages=("rust",),
        command=("known",),
        rereads=Rereads.OPENED,
        ready=(Sign(hint=Hint.PROGRESS, pattern="indexing"), Sign(hint=Hint.DIAGNOSTICS)),
        settings={"section": {"a": 1}},
        symbol_limit=128,
    )
    assert (choice.engines["ty"].command, choice.engines["ty"].warm_up) == (("/opt/ty", "server"), BUILT_IN["ty"].warm_up)
    assert choice.languages == {**DEFAULTS, "go": "gopls", "rust": "known"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"root": ["."]}, "root: no such setting; did you mean 'roots'?"),
        ({"xyz": 1}, "xyz: no such setting; known are roots"),
        ({"roots": "."}, "roots: expected a list of folders"),
        ({"roots": []}, "roots: expected a list of folders"),
        ({"roots": ["/no/such/folder"]}, "roots: '/no/such/folder' is not a folder"),
        ({"warm": 1}, "warm: expected true or false"),
        ({"memory_mb": 1}, "memory_mb: expected a number from 64"),
        ({"memory_mb": True}, "memory_mb: expected a number"),
        ({"request_seconds": "9"}, "request_seconds: expected a number"),
        ({"languages": ["python"]}, "languages: expected a table"),
        ({"languages": {"klingon": "ty"}}, "languages.klingon: no such language"),
        ({"languages": {"python": "clangd"}}, "languages.python: no engine 'clangd' that serves it"),
        ({"languages": {"python": "nope"}}, "languages.python: no engine 'nope'"),
        ({"engines": {"x": {"command": ["x"]}}}, "engines.x: expected at least command and languages"),
        ({"engines": {"x": {"command": [], "languages": ["go"]}}}, "engines.x: command and languages must not be empty"),
        (
            {"engines": {"x": {"command": ["x"], "languages": ["klingon"]}}},
            "engines.x.languages: no such language 'klingon'",
        ),
        ({"engines": {"ty": {"command": "ty"}}}, "engines.ty.command: not a setting of an engine, or of the wrong type"),
        ({"engines": {"ty": {"colour": "red"}}}, "engines.ty.colour: not a setting of an engine"),
        ({"engines": {"ty": {"name": "other"}}}, "engines.ty.name: not a setting of an engine"),
        ({"engines": {"ty": {"rereads": "never"}}}, "engines.ty.rereads: expected one of notified, opened, got 'never'"),
        ({"engines": {"ty": {"ready": [{"hint": "smoke"}]}}}, "engines.ty.ready: expected one of log, stderr"),
        ({"engines": {"ty": {"ready": [{"sign": "log"}]}}}, "engines.ty.ready: expected tables such as"),
        ({"engines": ["ty"]}, "engines: expected a table of engines"),
    ],
)
def test_a_mistake_is_told_with_what_is_expected(table: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:
        read_options({"roots": [str(tmp_path)]} | table if "root" not in table else table)

    assert str(caught.value).startswith(said)


def test_every_built_in_engine_serves_known_languages_and_says_how_it_is_installed() -> None:
    assert all(spec.install and set(spec.languages) <= set(LANGUAGES) for spec in BUILT_IN.values())
    assert all(language in BUILT_IN[name].languages for language, name in DEFAULTS.items())


@pytest.mark.parametrize(
    ("table", "known"), [({}, False), ({"ready": []}, False), ({"ready": [{"hint": "diagnostics"}]}, True)]
)
def test_a_new_engine_is_trusted_only_if_it_gives_signs_of_being_ready(table: dict[str, object], known: bool) -> None:
    engine = {"command": ["x"], "languages": ["go"], **table}

    assert read_options({"engines": {"own": engine}}).choice.engines["own"].known_ready is known
