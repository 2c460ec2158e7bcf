"""Scenes, prefabs and mixers that are saved in binary form, through UnityPy (extra `unity-binary`)."""
