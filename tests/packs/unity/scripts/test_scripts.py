"""Class names of scripts: MD4, the metadata of assemblies, and the names of components in a project."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.packs.unity.scripts.assemblies import assembly
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_settings import Package

from strictwire.packs.unity.project.project import Project, open_project
from strictwire.packs.unity.scripts.assembly import ClassName, NotAnAssembly, list_classes
from strictwire.packs.unity.scripts.md4 import class_file_id, md4
from strictwire.packs.unity.scripts.names import Standing, TypeName, TypeNames
from strictwire.packs.unity.yaml.objects import Component
from strictwire.packs.unity.yaml.values import Reference

IMAGE = "fe87c0e1cc204ed48ad3b37840f39efc"
UI_DLL = "f70555f144d8491a825f0804e09c671c"


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"a", "bde52cb31de33e46245e05fbdbd6fb24"),
        (b"abc", "a448017aaf21d8525fc10ae87aa6729d"),
        (b"message digest", "d9130a8164549fe818874806e1c7014b"),
        (b"abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
        (b"1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4_gives_the_digests_of_rfc_1320(data: bytes, digest: str) -> None:
    assert md4(data).hex() == digest


@pytest.mark.parametrize(
    ("namespace", "name", "file_id"),
    [
        ("UnityEngine.UI", "Image", -765806418),
        ("UnityEngine.UI", "Text", 708705254),
        ("UnityEngine.EventSystems", "EventSystem", -619905303),
    ],
)
def test_classes_of_a_dll_have_the_ids_that_scenes_use(namespace: str, name: str, file_id: int) -> None:
    """These ids stand in the scenes of every project that was made with the old UnityEngine.UI.dll."""
    assert class_file_id(namespace, name) == file_id


@pytest.mark.parametrize("wide", [False, True])
def test_an_assembly_lists_its_classes(wide: bool) -> None:
    raw = assembly([("", "<Module>"), ("Game.Units", "Hero"), ("", "Größe")], wide=wide, references=9)

    assert list_classes(raw) == (ClassName("", "<Module>"), ClassName("Game.Units", "Hero"), ClassName("", "Größe"))


@pytest.mark.parametrize("raw", [b"", b"MZ", b"MZ" + bytes(200), b"\x7fELF" + bytes(300)])
def test_what_is_no_assembly_is_refused(raw: bytes) -> None:
    with pytest.raises(NotAnAssembly):
        list_classes(raw)


def test_damaged_assemblies_are_refused_or_read_and_nothing_else() -> None:
    rng, raw = random.Random(1), assembly([("A", "B")] * 5)
    for _ in range(2_000):
        damaged = bytearray(raw[: rng.randrange(1, len(raw))] if rng.random() < 0.2 else raw)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            found = list_classes(bytes(damaged))
        except NotAnAssembly:
            continue

        assert all(isinstance(each, ClassName) for each in found)


def script(guid: str, file_id: int = 11500000, editor_class: str = "") -> Component:
    return Component("MonoBehaviour", 1, Reference(file_id, guid), editor_class)


def opened(builder: ProjectBuilder, root: Path) -> Project:
    return open_project(builder.save(root))


def test_names_by_source_dll_and_identifier(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [Package(name="com.example.absent")]
    source = builder.add_script("Assets/Hero.cs")
    library = builder.add_file("Assets/Plugins/Lib.dll", assembly([("Lib", "Tool")]))
    broken = builder.add_file("Assets/Plugins/Broken.dll", b"MZ nothing")
    texture = builder.add_texture("Assets/T.png")
    project = opened(builder, tmp_path)
    names = TypeNames(project)
    unknown = TypeName("MonoBehaviour", Standing.UNKNOWN)
    missing = TypeName("Missing Script", Standing.MISSING)

    assert names.name_of(Component("Light", 1)) == TypeName("Light")
    assert names.name_of(None) == missing
    assert names.name_of(script(source)) == TypeName("Hero")
    assert names.name_of(script(library, class_file_id("Lib", "Tool"))) == TypeName("Tool")
    assert names.name_of(script(library, 5)) == unknown
    assert names.name_of(script(broken, 5)) == unknown
    assert names.name_of(script(texture)) == missing
    assert names.name_of(script(UI_DLL, -765806418)) == TypeName("Image")
    assert names.name_of(script("", 0)) == missing
    assert names.name_of(script("0" * 31 + "1")) == unknown
    assert names.name_of(script("0" * 31 + "1", editor_class="Pkg.Runtime::Pkg.Deep.Thing")) == TypeName("Thing")
    assert names.name_of(script(IMAGE)) == TypeName("Image")
    project.close()


def test_a_script_is_missing_only_where_every_package_is_on_disk(tmp_path: Path) -> None:
    project = opened(ProjectBuilder(), tmp_path)

    assert TypeNames(project).name_of(script("0" * 31 + "1")) == TypeName("Missing Script", Standing.MISSING)
    project.close()
