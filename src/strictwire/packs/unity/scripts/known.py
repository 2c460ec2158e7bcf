"""GUIDs of scripts in Unity's own packages, which are usually not part of a checkout. They do not change with versions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

KNOWN_SCRIPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # com.unity.ugui
        "fe87c0e1cc204ed48ad3b37840f39efc": "Image",
        "1344c3c82d62a2a41a3576d8abb8e3ea": "RawImage",
        "5f7201a12d95ffc409449d95f23cf332": "Text",
        "4e29b1a8efbd4b44bb3f3716e73f07ff": "Button",
        "9085046f02f69544eb97fd06b6048fe2": "Toggle",
        "67db9e8f0e2ae9c40bc1e2b64352a6b4": "Slider",
        "1aa08ab6e0800fa44ae55d278d1423e3": "ScrollRect",
        "31a19414c41e5ae4aae2af33fee712f6": "Mask",
        "3312d7739989d2b4e91e6319e9a96d76": "RectMask2D",
        "0cd44c1031e13a943bb63640046fad76": "CanvasScaler",
        "dc42784cf147c0c48a680349fa168899": "GraphicRaycaster",
        "76c392e42b5098c458856cdf6ecaaaa1": "EventSystem",
        "4f231c4fb786f3946a6b90b886c48677": "StandaloneInputModule",
        "30649d3a9faa99c48a7b1166b86bf2a0": "HorizontalLayoutGroup",
        "59f8146938fff824cb5fd77236b75775": "VerticalLayoutGroup",
        "8a8695521f0d02e499659fee002a26c2": "GridLayoutGroup",
        "3245ec927659c4140ac4f8d17403cc18": "ContentSizeFitter",
        "306cc8c2b49d7114eaa3623786fc2126": "LayoutElement",
        # com.unity.textmeshpro, since 2023 part of com.unity.ugui
        "f4688fdb7df04437aeb418b961361dc5": "TextMeshProUGUI",
        "9541d86e2fd84c1d9990edf0852d74ab": "TextMeshPro",
        "2da0c512f12947e489f739169773d7ca": "TMP_InputField",
        "7b743370ac3e4ec2a1668f5455a8ef8a": "TMP_Dropdown",
        # com.unity.inputsystem
        "01614664b831546d2ae94a42149d80ac": "InputSystemUIInputModule",
        "62899f850307741f2a39c98a8b639597": "PlayerInput",
        # com.unity.render-pipelines.universal
        "a79441f348de89743a2939f4d699eac1": "UniversalAdditionalCameraData",
        "474bcb49853aa07438625e644c072ee6": "UniversalAdditionalLightData",
        "073797afb82c5a1438f328866b10b3f0": "Light2D",
    }
)
"""GUID of a script file to its class."""

UI_DLL: Final = "f70555f144d8491a825f0804e09c671c"
"""UnityEngine.UI.dll, which held the UI classes before they became a package."""

UI_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "UnityEngine.EventSystems": """BaseInput EventSystem EventTrigger Physics2DRaycaster PhysicsRaycaster
            StandaloneInputModule TouchInputModule""",
        "UnityEngine.UI": """AspectRatioFitter Button CanvasScaler ContentSizeFitter Dropdown GraphicRaycaster
            GridLayoutGroup HorizontalLayoutGroup Image InputField LayoutElement Mask Outline PositionAsUV1 RawImage
            RectMask2D ScrollRect
            Scrollbar Selectable Shadow Slider Text Toggle ToggleGroup VerticalLayoutGroup""",
    }
)
"""Its components by namespace, separated by spaces."""
