"""Random content for generated projects: names, components, prefabs, variants, overrides and scenes, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_assets import (
    Group,
    add_address_group,
    add_asmdef,
    add_mixer,
    add_shadergraph,
    add_uss,
    add_uxml,
    asset_reference,
)
from tests.packs.unity.writer_model import (
    Child,
    Component,
    Instance,
    Node,
    Override,
    Placed,
    Prefab,
    Scene,
    expand,
    expand_source,
)
from tests.packs.unity.writer_settings import Package
from tests.packs.unity.writer_yaml import Ref, Value, vector

PLAIN_NAMES: Final = (
    "Player",
    "Enemy",
    "Main Camera",
    "Directional Light",
    "Door",
    "Weapon",
    "Canvas",
    "Button (1)",
    "Root",
)
ODD_NAMES: Final = (
    "A #1", "#lead", "a/b", "key: value", "ends:", "- dash", "{fileID: 5}", "[x]", "it's", 'say "hi"', "tab\there",
    "line\nbreak", "bell\x07", "rtl\u202eevil", "Größe", "敵", "😀",
    " lead", "trail ", "true", "123", "1e5", "~", "%x", "@y", "|", ">",
    "a  b", "\\back", "null", "'", '"', "&a", "*b", "!c", "long " * 35 + "name", "use {fileID: 12, guid: none}",
)  # fmt: skip
"""Names that break careless readers."""

_NATIVE: Final = (
    "MeshRenderer",
    "MeshFilter",
    "BoxCollider",
    "Light",
    "Camera",
    "AudioSource",
    "Rigidbody",
    "SpriteRenderer",
)


@dataclass(slots=True)
class Maker:
    """Makes random nodes for one builder."""

    builder: ProjectBuilder
    scripts: tuple[str, ...]
    materials: tuple[str, ...]
    odd: float = 0.2
    """Share of odd names."""

    @property
    def rng(self) -> Random:
        """The random numbers of the builder."""
        return self.builder.rng

    def name(self) -> str:
        """A name, now and then an odd one."""
        return self.rng.choice(ODD_NAMES if self.rng.random() < self.odd else PLAIN_NAMES)

    def component(self, bits: int = 63) -> Component:
        """A native component or a script with fields that refer to assets."""
        rng, file_id = self.rng, self.builder.ids(bits)
        if self.scripts and rng.random() < 0.4:
            return Component(file_id=file_id, type="MonoBehaviour", script=rng.choice(self.scripts), fields=self._fields())
        kind = rng.choice(_NATIVE)
        material = rng.choice(self.materials)
        fields = {"m_Materials": [Ref(2100000, self.builder.guid_of(material), 2)]} if kind == "MeshRenderer" else {}
        return Component(file_id=file_id, type=kind, fields=fields)

    def _fields(self) -> dict[str, Value]:
        rng = self.rng
        made: dict[str, Value] = {
            "speed": round(rng.uniform(0, 10), 3),
            "label": self.name(),
            "material": Ref(2100000, self.builder.guid_of(rng.choice(self.materials)), 2),
            "offset": vector(x=1, y=2.5, z=-3),
            "empty": [],
            "steps": [{"key": self.name(), "value": rng.randrange(9)} for _ in range(rng.randrange(3))],
        }
        return dict(rng.sample(list(made.items()), k=rng.randrange(1, len(made))))

    def node(self, depth: int, *, bits: int = 63, children: tuple[Child, ...] = ()) -> Node:
        """A node with random components and, down to `depth`, random children."""
        rng, ids = self.rng, self.builder.ids
        below = [self.node(depth - 1, bits=bits) for _ in range(rng.randrange(3))] if depth > 0 else []
        return Node(
            file_id=ids(bits),
            transform_id=ids(bits),
            name=self.name(),
            active=rng.random() < 0.8,
            tag=rng.choice(("Untagged", "Enemy", "Player")),
            layer=rng.choice((0, 0, 5)),
            position=(round(rng.uniform(-9, 9), 2), 0, 1),
            is_ui=rng.random() < 0.2,
            components=tuple(self.component(bits) for _ in range(rng.randrange(4))),
            children=(*below, *children),
        )

    def instance(self, source: str, *, bits: int = 63, depth: int = 1) -> Instance:
        """An instance with random overrides, additions and removals that fit its source."""
        tree = expand_source(source, self.builder.prefabs)
        nodes = [node for _, node in tree.walk()]
        removed = self._removable(tree)
        gone = {each.file_id for node in nodes if node.file_id in removed for _, each in node.walk()}
        kept = [node for node in nodes if node.file_id not in gone]
        return Instance(
            file_id=self.builder.ids(bits),
            source=source,
            overrides=self._overrides(kept),
            removed_components=tuple(
                each.file_id for node in kept for each in node.components[1:] if self.rng.random() < 0.1
            ),
            removed_objects=removed,
            added_objects=tuple(
                (node.file_id, self.node(depth - 1, bits=bits)) for node in kept if self.rng.random() < 0.15 and depth > 0
            ),
            added_components=tuple((node.file_id, self.component(bits)) for node in kept if self.rng.random() < 0.15),
        )

    def _removable(self, tree: Placed) -> tuple[int, ...]:
        below = [node.file_id for _, node in tree.walk()[1:]]
        return (self.rng.choice(below),) if below and self.rng.random() < 0.2 else ()

    def _overrides(self, nodes: list[Placed]) -> tuple[Override, ...]:
        made = []
        for node in nodes:
            choices = (
                Override(target=node.file_id, path="m_Name", value=self.name()),
                Override(target=node.file_id, path="m_IsActive", value=self.rng.choice("01")),
                Override(target=node.file_id, path="m_TagString", value="Enemy"),
                Override(target=node.file_id, path="m_Layer", value="5"),
                Override(target=node.transform_id, path="m_LocalPosition.x", value=f"{self.rng.uniform(-5, 5):.3f}"),
            )
            made += [each for each in choices if self.rng.random() < 0.25]
        return tuple(made)


def random_project(seed: int, *, odd: float = 0.2, size: int = 3) -> ProjectBuilder:
    """A whole project without faults: every form of reference, nested prefabs, variants and several scenes."""
    builder = ProjectBuilder(seed=seed)
    rng = builder.rng
    builder.packages = [
        Package(name="com.example.tools", where="embedded", scripts=("Runtime/Tool.cs",)),
        Package(name="com.example.cached", version="2.1.0", where="cache", scripts=("Runtime/Cached.cs",)),
        Package(name="com.unity.modules.physics", where="builtin"),
    ]
    scripts = [f"Assets/Scripts/Script{number}.cs" for number in range(size)]
    for path in scripts:
        builder.add_script(path)
    scripts += ["Packages/com.example.tools/Runtime/Tool.cs", "Packages/com.example.cached/Runtime/Cached.cs"]
    textures = [f"Assets/Textures/T{number}.png" for number in range(size)]
    for path in textures:
        builder.add_texture(path)
    materials = [f"Assets/Materials/M{number}.mat" for number in range(size)]
    for path in materials:
        builder.add_material(path, rng.choice(textures))
    builder.add_model("Assets/Models/Ship.fbx", materials[0])
    _add_other_forms(builder, scripts[0], textures[0], materials[0])
    maker = Maker(builder=builder, scripts=tuple(scripts), materials=tuple(materials), odd=odd)
    prefabs = _add_prefabs(maker, size)
    for number in range(size):
        builder.add_scene(_random_scene(maker, f"Assets/Scenes/S{number}.unity", prefabs), in_build=number > 0)
    return builder


def _add_prefabs(maker: Maker, size: int) -> list[str]:
    """Plain prefabs first, then ones that nest or vary an earlier one."""
    paths: list[str] = []
    for number in range(size):
        paths.append(f"Assets/Prefabs/Plain{number}.prefab")
        maker.builder.add_prefab(Prefab(path=paths[-1], root=maker.node(2)))
    for number in range(size):
        paths.append(f"Assets/Prefabs/Nested{number}.prefab")
        inner = maker.instance(maker.rng.choice([*paths[:-1], "Assets/Models/Ship.fbx"]))
        maker.builder.add_prefab(Prefab(path=paths[-1], root=maker.node(1, children=(inner,))))
    for number in range(size):
        paths.append(f"Assets/Prefabs/Variant{number}.prefab")
        maker.builder.add_prefab(Prefab(path=paths[-1], root=maker.instance(maker.rng.choice(paths[:-1]))))
    return paths


def _random_scene(maker: Maker, path: str, prefabs: list[str]) -> Scene:
    rng = maker.rng
    roots: list[Child] = [maker.node(2, bits=31) for _ in range(rng.randrange(1, 4))]
    roots += [maker.instance(rng.choice(prefabs), bits=31) for _ in range(rng.randrange(3))]
    roots.append(maker.node(1, bits=31, children=(maker.instance(rng.choice(prefabs), bits=31),)))
    rng.shuffle(roots)
    # m_RootOrder cannot give an instance a place here, so older scenes are made of nodes alone.
    if rng.random() < 0.3:
        nodes = tuple(each for each in roots if isinstance(each, Node))
        return Scene(path=path, roots=nodes, has_scene_roots=False)
    return Scene(path=path, roots=tuple(roots))


def _add_other_forms(builder: ProjectBuilder, script: str, texture: str, material: str) -> None:
    """One asset of each form that refers to others."""
    add_asmdef(builder, "Assets/Code/Core.asmdef")
    add_asmdef(builder, "Assets/Code/Game/Game.asmdef", ("Assets/Code/Core.asmdef",))
    add_uss(builder, "Assets/UI/Main.uss", texture)
    add_uxml(builder, "Assets/UI/Item.uxml")
    add_uxml(builder, "Assets/UI/Main.uxml", style="Assets/UI/Main.uss", template="Assets/UI/Item.uxml")
    add_shadergraph(builder, "Assets/Shaders/Water.shadergraph", texture)
    builder.add_scriptable("Assets/Data/Config.asset", script, {"icon": asset_reference(builder, texture)})
    add_address_group(builder, "Assets/AddressableAssetsData/Groups/Default.asset", script, (material,))
    add_mixer(
        builder,
        "Assets/Audio/Main.mixer",
        Group(
            name="Master", volume=-3.5, is_exposed=True, children=(Group(name="Music", is_exposed=True), Group(name="SFX"))
        ),
        ("Normal", "Quiet"),
    )


def tree_of(child: Child, builder: ProjectBuilder) -> Placed:
    """The expanded tree of a node or instance of a builder."""
    return expand(child, builder.prefabs)
