"""Context resolve: caches of documents, the frozen v0 selection over them, and a better search beside it.

Above: `packs.pack`. Below: `canon`, `fault`, `contract`. The v0 rules are in small pure modules (`words`, `binary32`,
`layout`, `index`, `select`, `render`). Disk access, watches and lifetimes are in `load`, `watch`, `library` and `build`.
"""
