"""Components of UnityEngine.UI.dll, which held them before they became a package."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
"""Names by namespace, separated by spaces."""
