"""Language servers as processes: which there are, how each is started, watched, kept in sync and stopped.

From the bottom: `leash` (a process that dies with the server), `process`, `barrier` (readiness), `sync` (documents and
changed files), `session` (one running engine), `supervised` (start on demand, back-off), `registry` (every engine of every
root). `spec` says what is known about an engine, `table` holds the built-in ones.
"""
