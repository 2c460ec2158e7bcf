"""Packages by name: how they are spelled, and the commands that download them without running their code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from strictwire.packs.context import packages as packages_module
from strictwire.packs.context.packages import NotDownloaded, Package, download, maybe_package


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("pypi:django==5.2", Package("pypi", "django", "5.2")),
        ("pypi:zope.interface", Package("pypi", "zope.interface", "")),
        ("npm:@babel/core@7.1.0", Package("npm", "@babel/core", "7.1.0")),
        ("npm:left-pad", Package("npm", "left-pad", "")),
        ("./docs", None),
        ("C:/docs", None),
    ],
)
def test_a_source_is_a_package_or_a_path(source: str, package: Package | None) -> None:
    assert maybe_package(source) == package


@pytest.mark.parametrize(
    "source",
    [
        "pypi:",
        "pypi:--index-url=x",
        "pypi:a b",
        "pypi:a>=1",
        "pypi:a @ http",
        "pypi:a[x]",
        "npm:-g",
        "npm:../x",
        "npm:a@b@c",
        "npm:git+x",
    ],
)
def test_options_urls_and_ranges_are_not_packages(source: str) -> None:
    with pytest.raises(NotDownloaded):
        maybe_package(source)


def test_pip_is_asked_for_wheels_only_and_npm_to_ignore_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(packages_module, "_run", lambda command, _folder: ran.append(command))
    monkeypatch.setattr(packages_module.shutil, "which", lambda _name: "/bin/npm")
    for package in (Package("pypi", "a", "1"), Package("npm", "@b/c", "2")):
        with pytest.raises(NotDownloaded):
            download(package, tmp_path)

    assert ran[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert ran[0][-7:] == ["--no-deps", "--only-binary", ":all:", "--dest", str(tmp_path), "--", "a==1"]
    assert ran[1] == [
        "/bin/npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", str(tmp_path), "--", "@b/c@2",
    ]  # fmt: skip


def test_a_failed_download_gives_the_last_line_of_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('first\\nERROR: no such package')"]
    monkeypatch.setattr(packages_module, "_COMMANDS", {"pypi": lambda _package, _folder: command})

    with pytest.raises(NotDownloaded, match="ERROR: no such package"):
        download(Package("pypi", "a", "1"), tmp_path)


@pytest.mark.parametrize(
    ("registry", "file", "version"), [("pypi", "a-1.2-py3-none-any.whl", "1.2"), ("npm", "babel-core-7.1.0.tgz", "7.1.0")]
)
def test_the_version_of_a_download_is_read_from_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: str, file: str, version: str
) -> None:
    monkeypatch.setattr(packages_module, "_run", lambda _command, folder: (folder / file).write_bytes(b""))
    monkeypatch.setattr(packages_module.shutil, "which", lambda _name: "/bin/npm")

    assert download(Package(registry, "a", ""), tmp_path) == (tmp_path / file, version)
