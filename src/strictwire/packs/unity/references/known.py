"""Scripts of widely used packages by GUID, so that a checkout without the package cache is not full of unknowns.

GUIDs of published packages never change: every project that uses the package would lose its references. The table holds
scripts only, with the packages that bring them; a GUID counts as resolved if the project lists one of these packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScript:
    """One script of a package."""

    class_name: str
    packages: tuple[str, ...]


_UGUI: Final = ("com.unity.ugui",)
_TMP: Final = ("com.unity.textmeshpro", "com.unity.ugui")
"""TextMesh Pro became part of uGUI 2."""
_URP: Final = ("com.unity.render-pipelines.universal",)
_CORE: Final = (
    "com.unity.render-pipelines.core",
    "com.unity.render-pipelines.universal",
    "com.unity.render-pipelines.high-definition",
)
_HDRP: Final = ("com.unity.render-pipelines.high-definition",)
_INPUT: Final = ("com.unity.inputsystem",)

_TABLE: Final = {
    _UGUI: """
        fe87c0e1cc204ed48ad3b37840f39efc UnityEngine.UI.Image
        5f7201a12d95ffc409449d95f23cf332 UnityEngine.UI.Text
        1344c3c82d62a2a41a3576d8abb8e3ea UnityEngine.UI.RawImage
        4e29b1a8efbd4b44bb3f3716e73f07ff UnityEngine.UI.Button
        9085046f02f69544eb97fd06b6048fe2 UnityEngine.UI.Toggle
        2fafe2cfe61f6974895a912c3755e8f1 UnityEngine.UI.ToggleGroup
        67db9e8f0e2ae9c40bc1e2b64352a6b4 UnityEngine.UI.Slider
        2a4db7a114972834c8e4117be1d82ba3 UnityEngine.UI.Scrollbar
        1aa08ab6e0800fa44ae55d278d1423e3 UnityEngine.UI.ScrollRect
        0d0b652f32a2cc243917e4028fa0f046 UnityEngine.UI.Dropdown
        d199490a83bb2b844b9695cbf13b01ef UnityEngine.UI.InputField
        31a19414c41e5ae4aae2af33fee712f6 UnityEngine.UI.Mask
        3312d7739989d2b4e91e6319e9a96d76 UnityEngine.UI.RectMask2D
        0cd44c1031e13a943bb63640046fad76 UnityEngine.UI.CanvasScaler
        dc42784cf147c0c48a680349fa168899 UnityEngine.UI.GraphicRaycaster
        30649d3a9faa99c48a7b1166b86bf2a0 UnityEngine.UI.HorizontalLayoutGroup
        59f8146938fff824cb5fd77236b75775 UnityEngine.UI.VerticalLayoutGroup
        8a8695521f0d02e499659fee002a26c2 UnityEngine.UI.GridLayoutGroup
        3245ec927659c4140ac4f8d17403cc18 UnityEngine.UI.ContentSizeFitter
        306cc8c2b49d7114eaa3623786fc2126 UnityEngine.UI.LayoutElement
        86710e43de46f6f4bac7c8e50813a599 UnityEngine.UI.AspectRatioFitter
        76c392e42b5098c458856cdf6ecaaaa1 UnityEngine.EventSystems.EventSystem
        4f231c4fb786f3946a6b90b886c48677 UnityEngine.EventSystems.StandaloneInputModule
    """,
    _TMP: """
        f4688fdb7df04437aeb418b961361dc5 TMPro.TextMeshProUGUI
        9541d86e2fd84c1d9990edf0852d74ab TMPro.TextMeshPro
        2da0c512f12947e489f739169773d7ca TMPro.TMP_InputField
        7b743370ac3e4ec2a1668f5455a8ef8a TMPro.TMP_Dropdown
        71c1514a6bd24e1e882cebbe1904ce04 TMPro.TMP_FontAsset
        84a92b25f83d49b9bc132d206b370281 TMPro.TMP_SpriteAsset
        2705215ac5b84b70bacc50632be6e391 TMPro.TMP_Settings
    """,
    _URP: """
        bf2edee5c58d82540a51f03df9d42094 UnityEngine.Rendering.Universal.UniversalRenderPipelineAsset
        a79441f348de89743a2939f4d699eac1 UnityEngine.Rendering.Universal.UniversalAdditionalCameraData
        474bcb49853aa07438625e644c072ee6 UnityEngine.Rendering.Universal.UniversalAdditionalLightData
    """,
    _CORE: """
        172515602e62fb746b5d573b38a5fe58 UnityEngine.Rendering.Volume
        d7fd9488000d3734a9e00ee676215985 UnityEngine.Rendering.VolumeProfile
    """,
    _HDRP: """
        0cf1dab834d4ec34195b920ea7bbf9ec UnityEngine.Rendering.HighDefinition.HDRenderPipelineAsset
    """,
    _INPUT: """
        62899f850307741f2a39c98a8b639597 UnityEngine.InputSystem.PlayerInput
        01614664b831546d2ae94a42149d80ac UnityEngine.InputSystem.UI.InputSystemUIInputModule
    """,
}

KNOWN_SCRIPTS: Final[Mapping[str, KnownScript]] = MappingProxyType(
    {
        guid: KnownScript(class_name=name, packages=packages)
        for packages, rows in _TABLE.items()
        for guid, name in (row.split() for row in rows.split("\n") if row.strip())
    }
)
"""GUID to script."""
