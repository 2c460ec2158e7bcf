"""The Unity YAML reader: header index, structure-only mode, full mode.

UnityYAML is a small dialect of YAML 1.1, and a general YAML library reads it wrongly: ` #` is data, keys may be empty,
and `|` is text. The reader is pure: bytes in, frozen or shared values out. Reading files is for the callers.
"""
