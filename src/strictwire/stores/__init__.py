"""Stores: the audit trail in files and in memory, behind the seams `audit.recorder` and `audit.view`.

files/     the default: one folder, several processes
memory/    twins for tests and trial runs

What every store shares stands here: faults, the schedule, flood counting, stored records, export and replay. A store for
another medium implements `Recorder` and `TrailView` beside them.
"""
