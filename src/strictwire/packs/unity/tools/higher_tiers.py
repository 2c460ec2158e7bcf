"""The tools of higher tiers, by name alone: they are listed with their tier, and a call is refused (-32005).

A caller whose tier allows one learns that it needs the Editor: every one of them writes to the project or asks the Editor
for what no file holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.contract.safety import Safety
from strictwire.contract.tool import ToolContract
from strictwire.packs.unity.tools.refusals import unity_error

_READING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pro": """project.getVersion project.listFiles project.readFile project.searchText project.inspectScript
            unityApi.search unityPackages.search""",
        "studio": """audio.mixer.validateRouting asmdef.validateGraph project.architectureSummary build.sizeReport
            build.textureUsage""",
        "enterprise": """project.policy.check project.dependency.audit addressables.analyzeMemory
            localization.coverageReport""",
    }
)
_WRITING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pro": """project.writeFile go.create go.delete go.setTransform component.add component.remove component.setProperty
            prefab.editProperty sobj.setField audio.mixer.createGroup audio.mixer.createSnapshot audio.mixer.setRouting
            timeline.createTrack timeline.bindObject timeline.addMarker editor.executeMenu editor.selection.applyTag
            editor.selection.applyLayer batch.setProperty ui.createDocument ui.addStyle ui.bindData""",
        "studio": """scene.load scene.save scene.setActive scene.batchApply prefab.batchReplace audio.mixer.batchRoute
            timeline.sectionMarkers timeline.batchBind cinemachine.createVirtualCamera cinemachine.batchAdjust
            cinemachine.timelineBind asmdef.addReference conventions.enforceEditorConfig material.createVariant
            material.batchConvert texture.atlas texture.resizeBatch mesh.autoLOD mesh.combineStatic
            project.references.fixMissing""",
        "enterprise": """ci.buildTarget ci.runTests ci.exportResults runtime.callMethod project.policy.fix
            yaml.safeSceneEdit project.migratePipeline addressables.buildGroups addressables.updateRemoteCatalog
            localization.batchImport sdk.registerCustomTool""",
    }
)
"""Names by tier, separated by spaces."""

_ANYTHING: Final[JsonObject] = {"type": "object"}
"""Their arguments are not known here: the tier is judged before them."""


def higher_tier_tools() -> Iterator[ToolContract]:
    """The contract of every tool above the core tier."""
    for safety, names_by_tier in ((Safety.READ_ONLY, _READING), (Safety.MUTATING, _WRITING)):
        for tier, names in names_by_tier.items():
            for name in names.split():
                yield ToolContract(
                    name=name,
                    description=f"Part of the {tier} tier; needs a running Unity Editor.",
                    input_schema=_ANYTHING,
                    category=name.partition(".")[0],
                    tier=tier,
                    safety=safety,
                    listed=False,
                )


def refuse(_arguments: JsonObject, _context: CallContext) -> None:
    """The handler of all of them. Raises Refused(UNITY_ERROR)."""
    raise unity_error("No Editor is running", "This tool needs a running Unity Editor; this server only reads project files")
