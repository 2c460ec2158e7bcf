"""Large generated content for benchmarks: a realistic scene, a whole project, and a pair of scenes to compare.

Field lists and proportions follow what editors write (class frequencies of open projects), so that readers meet the
usual share of wrapped references, vectors and short numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tests.packs.unity.writer import BUILTIN, ProjectBuilder, save_files
from tests.packs.unity.writer_model import Component, Ids, Instance, Node, Override, Prefab, Scene
from tests.packs.unity.writer_random import Maker
from tests.packs.unity.writer_yaml import NULL, Document, Flow, Ref, Value, render_file, vector

MEGABYTE: Final = 1_000_000

_RENDERER: Final[Mapping[str, Value]] = {
    "m_CastShadows": 1, "m_ReceiveShadows": 1, "m_DynamicOccludee": 1, "m_StaticShadowCaster": 0, "m_MotionVectors": 1,
    "m_LightProbeUsage": 1, "m_ReflectionProbeUsage": 1, "m_RayTracingMode": 2, "m_RayTraceProcedural": 0,
    "m_RenderingLayerMask": 1, "m_RendererPriority": 0,
}  # fmt: skip
_RENDERER_END: Final[Mapping[str, Value]] = {
    "m_StaticBatchInfo": {"firstSubMesh": 0, "subMeshCount": 0}, "m_StaticBatchRoot": NULL, "m_ProbeAnchor": NULL,
    "m_LightProbeVolumeOverride": NULL, "m_ScaleInLightmap": 1, "m_ReceiveGI": 1, "m_PreserveUVs": 0,
    "m_IgnoreNormalsForChartDetection": 0, "m_ImportantGI": 0, "m_StitchLightmapSeams": 1, "m_SelectedEditorRenderState": 3,
    "m_MinimumChartSize": 4, "m_AutoUVMaxDistance": 0.5, "m_AutoUVMaxAngle": 89, "m_LightmapParameters": NULL,
    "m_SortingLayerID": 0, "m_SortingLayer": 0, "m_SortingOrder": 0, "m_AdditionalVertexStreams": NULL,
}  # fmt: skip


@dataclass(slots=True)
class Furnisher:
    """Makes realistic components that refer to the assets of a builder."""

    builder: ProjectBuilder
    maker: Maker
    images: tuple[str, ...]

    def mesh(self) -> tuple[Component, ...]:
        """What a visible static object has."""
        builder, ids = self.builder, self.builder.ids
        material = Ref(2100000, builder.guid_of(builder.rng.choice(self.maker.materials)), 2)
        box = {
            "m_Material": NULL,
            "m_IsTrigger": 0,
            "serializedVersion": 3,
            "m_Size": vector(x=1, y=1, z=1),
            "m_Center": vector(x=0, y=0, z=0),
        }
        return (
            Component(file_id=ids(31), type="MeshFilter", fields={"m_Mesh": Ref(10202, BUILTIN[0], 0)}),
            Component(
                file_id=ids(31), type="MeshRenderer", fields={**_RENDERER, "m_Materials": [material], **_RENDERER_END}
            ),
            Component(file_id=ids(31), type="BoxCollider", fields=box),
        )

    def image(self) -> tuple[Component, ...]:
        """What a UI image has."""
        builder, ids, rng = self.builder, self.builder.ids, self.builder.rng
        sprite = Ref(21300000, builder.guid_of(rng.choice(self.images)), 3)
        fields: dict[str, Value] = {
            "m_Material": NULL,
            "m_Color": vector(r=rng.random(), g=rng.random(), b=rng.random(), a=1),
            "m_RaycastTarget": 1,
            "m_RaycastPadding": vector(x=0, y=0, z=0, w=0),
            "m_Maskable": 1,
            "m_OnCullStateChanged": {"m_PersistentCalls": {"m_Calls": []}},
            "m_Sprite": sprite,
            "m_Type": 0, "m_PreserveAspect": 0, "m_FillCenter": 1, "m_FillMethod": 4, "m_FillAmount": 1,
            "m_FillClockwise": 1, "m_FillOrigin": 0, "m_UseSpriteMesh": 0, "m_PixelsPerUnitMultiplier": 1,
        }  # fmt: skip
        return (
            Component(file_id=ids(31), type="CanvasRenderer", fields={"m_CullTransparentMesh": 1}),
            Component(file_id=ids(31), type="MonoBehaviour", script=rng.choice(self.maker.scripts), fields=fields),
        )

    def node(self, children: tuple[Node | Instance, ...] = ()) -> Node:
        """An object of the usual kinds."""
        rng, ids = self.builder.rng, self.builder.ids
        is_ui = rng.random() < 0.4
        position = (rng.uniform(-50, 50), rng.uniform(0, 5), rng.uniform(-50, 50))
        return Node(
            file_id=ids(31),
            transform_id=ids(31),
            name=f"{rng.choice(('Crate', 'Wall', 'Lamp', 'Panel', 'Icon', 'Rock'))} ({rng.randrange(500)})",
            position=position,
            is_ui=is_ui,
            components=self.image() if is_ui else self.mesh(),
            children=children,
        )

    def placed_prefab(self, source: str) -> Instance:
        """An instance with the overrides that every placed prefab has."""
        prefab = self.builder.prefabs[source].root
        rng = self.builder.rng
        moved = [
            Override(target=prefab.transform_id, path=f"m_Local{part}.{axis}", value=f"{rng.uniform(-50, 50):.6g}")
            for part in ("Position", "Rotation", "EulerAnglesHint")
            for axis in "xyz"
        ]
        named = Override(target=prefab.file_id, path="m_Name", value=f"{prefab.name} ({rng.randrange(99)})")
        return Instance(file_id=self.builder.ids(31), source=source, overrides=(*moved, named))


def _furnished(seed: int, prefabs: int = 8) -> Furnisher:
    builder = ProjectBuilder(seed=seed, name="Large")
    scripts = tuple(f"Assets/Scripts/Behaviour{number}.cs" for number in range(20))
    images = tuple(f"Assets/Textures/Image{number}.png" for number in range(20))
    materials = tuple(f"Assets/Materials/Material{number}.mat" for number in range(20))
    for path in scripts:
        builder.add_script(path)
    for path in images:
        builder.add_texture(path)
    for path, image in zip(materials, images, strict=True):
        builder.add_material(path, image)
    made = Furnisher(
        builder=builder, maker=Maker(builder=builder, scripts=scripts, materials=materials, odd=0), images=images
    )
    for number in range(prefabs):
        root = made.node(tuple(made.node() for _ in range(4)))
        builder.add_prefab(Prefab(path=f"Assets/Prefabs/Prop{number}.prefab", root=root))
    return made


def _add_sized_scene(made: Furnisher, path: str, size: int) -> None:
    """A scene of at least `size` bytes, with a prefab instance for every four groups of objects."""
    builder, prefabs = made.builder, sorted(made.builder.prefabs)
    roots: list[Node | Instance] = []
    # An object with its components is close to 2.3 kB; the loop below tops up what the estimate leaves open.
    per_group = 12_000
    while True:
        for _ in range(max(1, size // per_group - len(roots))):
            group = made.node(tuple(made.node() for _ in range(4)))
            roots.append(group)
            if len(roots) % 5 == 0:
                roots.append(made.placed_prefab(builder.rng.choice(prefabs)))
        builder.add_scene(Scene(path=path, roots=tuple(roots)), in_build=path not in builder.scenes)
        if len(builder.files[path]) >= size:
            return
        per_group = max(1_000, len(builder.files[path]) // len(roots))


def realistic_scene(size: int = 4 * MEGABYTE, seed: int = 1) -> tuple[ProjectBuilder, str]:
    """A project with one scene of about `size` bytes, and the path of the scene."""
    made = _furnished(seed)
    path = "Assets/Scenes/Large.unity"
    _add_sized_scene(made, path, size)
    return made.builder, path


def write_large_project(root: Path, size: int = 50 * MEGABYTE, seed: int = 2) -> ProjectBuilder:
    """A project of about `size` bytes of text assets: scenes of 1 MB, prefabs, materials, scripts."""
    made = _furnished(seed, prefabs=400)
    for number in range(size // MEGABYTE):
        _add_sized_scene(made, f"Assets/Scenes/Level{number}.unity", MEGABYTE - 80_000)
    made.builder.save(root)
    return made.builder


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePair:
    """Two versions of one scene. Ids are those of GameObjects."""

    before: bytes
    after: bytes
    added: tuple[int, ...]
    removed: tuple[int, ...]
    renamed: tuple[int, ...]
    repositioned: tuple[int, ...]


def scene_pair(objects: int = 50_000, seed: int = 3, changes: int = 40) -> ScenePair:
    """Two scenes of `objects` documents, about 10 MB each at 50,000, that differ in `changes` places of each kind."""
    rng = Random(seed)
    ids = Ids(rng)
    rows = [(ids(31), ids(31), f"Object {number}") for number in range(objects // 2)]
    touched = rng.sample(range(len(rows)), changes * 3)
    removed, renamed, moved = (touched[each::3] for each in range(3))
    extra = [(ids(31), ids(31), f"Added {number}") for number in range(changes)]
    after = [
        (owner, place, f"{name} renamed" if number in set(renamed) else name)
        for number, (owner, place, name) in enumerate(rows)
    ]
    shifted = {rows[number][0] for number in moved}
    gone = set(removed)
    kept = [row for number, row in enumerate(after) if number not in gone]
    return ScenePair(
        before=render_file(_bare_documents(rows, set())),
        after=render_file(_bare_documents([*kept, *extra], shifted)),
        added=tuple(row[0] for row in extra),
        removed=tuple(rows[number][0] for number in removed),
        renamed=tuple(rows[number][0] for number in renamed),
        repositioned=tuple(rows[number][0] for number in moved),
    )


def _bare_documents(rows: list[tuple[int, int, str]], shifted: set[int]) -> Iterator[Document]:
    """GameObjects with a transform and nothing else, every one a root."""
    still: Flow = vector(x=0, y=0, z=0)
    for owner, place, name in rows:
        body = {
            "m_ObjectHideFlags": 0,
            "serializedVersion": 6,
            "m_Component": [{"component": Ref(place)}],
            "m_Layer": 0,
            "m_Name": name,
            "m_TagString": "Untagged",
            "m_IsActive": 1,
        }
        yield Document(class_id=1, file_id=owner, type_name="GameObject", body=body)
        where = {
            "m_GameObject": Ref(owner),
            "m_LocalPosition": vector(x=1, y=2, z=3) if owner in shifted else still,
            "m_LocalScale": vector(x=1, y=1, z=1),
            "m_Children": [],
            "m_Father": NULL,
        }
        yield Document(class_id=4, file_id=place, type_name="Transform", body=where)


def save_pair(folder: Path, pair: ScenePair) -> tuple[Path, Path]:
    """Write both versions; their paths."""
    save_files(folder, {"Before.unity": pair.before, "After.unity": pair.after})
    return folder / "Before.unity", folder / "After.unity"
