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
        fe87c0e1cc204ed48ad3b37840f39efc Image
        5f7201a12d95ffc409449d95f23cf332 Text
        1344c3c82d62a2a41a3576d8abb8e3ea RawImage
        4e29b1a8efbd4b44bb3f3716e73f07ff Button
        9085046f02f69544eb97fd06b6048fe2 Toggle
        2fafe2cfe61f6974895a912c3755e8f1 ToggleGroup
        67db9e8f0e2ae9c40bc1e2b64352a6b4 Slider
        2a4db7a114972834c8e4117be1d82ba3 Scrollbar
        1aa08ab6e0800fa44ae55d278d1423e3 ScrollRect
        0d0b652f32a2cc243917e4028fa0f046 Dropdown
        d199490a83bb2b844b9695cbf13b01ef InputField
        31a19414c41e5ae4aae2af33fee712f6 Mask
        3312d7739989d2b4e91e6319e9a96d76 RectMask2D
        0cd44c1031e13a943bb63640046fad76 CanvasScaler
        dc42784cf147c0c48a680349fa168899 GraphicRaycaster
        30649d3a9faa99c48a7b1166b86bf2a0 HorizontalLayoutGroup
        59f8146938fff824cb5fd77236b75775 VerticalLayoutGroup
        8a8695521f0d02e499659fee002a26c2 GridLayoutGroup
        3245ec927659c4140ac4f8d17403cc18 ContentSizeFitter
        306cc8c2b49d7114eaa3623786fc2126 LayoutElement
        86710e43de46f6f4bac7c8e50813a599 AspectRatioFitter
        76c392e42b5098c458856cdf6ecaaaa1 EventSystem
        4f231c4fb786f3946a6b90b886c48677 StandaloneInputModule
    """,
    _TMP: """
        f4688fdb7df04437aeb418b961361dc5 TextMeshProUGUI
        9541d86e2fd84c1d9990edf0852d74ab TextMeshPro
        2da0c512f12947e489f739169773d7ca TMP_InputField
        7b743370ac3e4ec2a1668f5455a8ef8a TMP_Dropdown
        71c1514a6bd24e1e882cebbe1904ce04 TMP_FontAsset
        84a92b25f83d49b9bc132d206b370281 TMP_SpriteAsset
        2705215ac5b84b70bacc50632be6e391 TMP_Settings
    """,
    _URP: """
        bf2edee5c58d82540a51f03df9d42094 UniversalRenderPipelineAsset
        a79441f348de89743a2939f4d699eac1 UniversalAdditionalCameraData
        474bcb49853aa07438625e644c072ee6 UniversalAdditionalLightData
        073797afb82c5a1438f328866b10b3f0 Light2D
    """,
    _CORE: """
        172515602e62fb746b5d573b38a5fe58 Volume
        d7fd9488000d3734a9e00ee676215985 VolumeProfile
    """,
    _HDRP: """
        0cf1dab834d4ec34195b920ea7bbf9ec HDRenderPipelineAsset
    """,
    _INPUT: """
        62899f850307741f2a39c98a8b639597 PlayerInput
        01614664b831546d2ae94a42149d80ac InputSystemUIInputModule
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

UI_DLL: Final = "f70555f144d8491a825f0804e09c671c"
"""UnityEngine.UI.dll, which held the UI classes before they became a package."""
