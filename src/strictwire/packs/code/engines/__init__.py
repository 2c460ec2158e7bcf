"""Language servers as processes: which there are, how each is started, watched, kept in sync and stopped.

From the bottom: `leash` (a process that dies with us), `process`, `barrier` (readiness), `documents` (sync), `session` (one
running engine), `supervised` (start on demand, back-off, late results), `registry` (every engine of every root).
"""
