"""What a file is: its asset type by extension, and its form by its first bytes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

YAML_START: Final = b"%YAML"
BOM: Final = b"\xef\xbb\xbf"
LFS_START: Final = b"version https://git-lfs.github.com/spec/"
LFS_BYTES: Final = 1024
"""A pointer is always smaller: the specification sets this limit."""


class Form(StrEnum):
    """How the content of a file can be read."""

    YAML = "yaml"
    """Unity YAML."""
    TEXT = "text"
    """Code, JSON, markup, style sheets."""
    BINARY = "binary"
    LFS_POINTER = "lfs-pointer"
    """Git LFS has not fetched the content."""
    EMPTY = "empty"


_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        extension: name
        for name, extensions in {
            "Scene": ".unity",
            "Prefab": ".prefab",
            "Material": ".mat",
            "Script": ".cs .dll .asmdef .asmref .rsp",
            "Texture": ".png .jpg .jpeg .tga .psd .psb .tif .tiff .bmp .gif .exr .hdr .iff .pict .webp",
            "Model": ".fbx .obj .dae .3ds .dxf .blend .max .ma .mb .c4d .skp .glb .gltf",
            "Audio": ".wav .mp3 .ogg .aif .aiff .flac .mod .it .s3m .xm",
            "Video": ".mp4 .mov .webm .avi .m4v .mpg .mpeg .ogv .vp8 .wmv .asf .dv",
            "Animation": ".anim .controller .overridecontroller .mask",
            "Timeline": ".playable .signal",
            "AudioMixer": ".mixer",
            "Shader": ".shader .shadergraph .shadersubgraph .shadervariants .compute .cginc .hlsl .glslinc .vfx .raytrace",
            "Font": ".ttf .otf .ttc .fontsettings",
            "UI": ".uxml .uss .tss",
            "ScriptableObject": ".asset",
            "Text": ".txt .json .xml .csv .md .yaml .yml .html .bytes",
        }.items()
        for extension in extensions.split()
    }
)
"""Asset type by extension, in lower case."""

OTHER: Final = "Other"
"""The type of a file whose extension no importer of Unity owns."""

ASSET_TYPES: Final = tuple(sorted({*_TYPES.values(), OTHER}))

YAML_EXTENSIONS: Final = frozenset(
    {
        ".anim", ".asset", ".brush", ".controller", ".cubemap", ".flare", ".fontsettings", ".giparams", ".guiskin",
        ".lighting", ".mask", ".mat", ".mesh", ".mixer", ".overridecontroller", ".physicmaterial", ".physicmaterial2d",
        ".physicsmaterial", ".physicsmaterial2d", ".playable", ".prefab", ".preset", ".rendertexture", ".scenetemplate",
        ".shadervariants", ".signal", ".spriteatlas", ".spriteatlasv2", ".terrainlayer", ".texture2d", ".unity", ".vfx",
        ".vfxblock", ".vfxoperator",
    }
)  # fmt: skip
"""Files that Unity writes itself, in YAML where the project uses text serialization."""

TEXT_EXTENSIONS: Final = frozenset(
    {
        ".asmdef", ".asmref", ".cginc", ".compute", ".cs", ".csv", ".hlsl", ".inputactions", ".json", ".md", ".meta", ".rsp",
        ".shader", ".shadergraph", ".shadersubgraph", ".tss", ".txt", ".uss", ".uxml", ".xml", ".yaml", ".yml",
    }
)  # fmt: skip
"""Other files that people merge: they can carry conflict markers, and some of them references."""


PLUGIN_FOLDERS: Final = frozenset({".androidlib", ".bundle", ".framework", ".plugin", ".xcframework"})
"""Folders that Unity imports as one plug-in. What is inside has .meta files in projects of old editors only."""


def is_inside_plugin(path: str) -> bool:
    """Whether a path lies inside a folder that is one plug-in."""
    *folders, _name = path.split("/")
    return any(extension_of(folder) in PLUGIN_FOLDERS for folder in folders)


def extension_of(path: str) -> str:
    """The extension with its dot, in lower case; empty if there is none."""
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return f".{extension.lower()}" if dot and stem else ""


def type_of(path: str) -> str:
    """The asset type, one of ASSET_TYPES."""
    return _TYPES.get(extension_of(path), OTHER)


def form_of(raw: bytes) -> Form:
    """The form of a file by its first bytes."""
    if not raw:
        return Form.EMPTY
    if len(raw) <= LFS_BYTES and raw.startswith(LFS_START):
        return Form.LFS_POINTER
    if raw.removeprefix(BOM).startswith(YAML_START):
        return Form.YAML
    return Form.BINARY if b"\x00" in raw[:8192] else Form.TEXT
