"""Context resolve: caches of documents, the frozen v0 selection over them, and a better search beside it.

Above: `packs.pack`. Below: `canon`, `fault`, `contract`. The rules of v0 live in small pure modules (`words`, `binary32`,
`layout`, `index`, `select`, `render`); disk, watches and lifetimes live in `load`, `watch`, `library`, `build`.
"""
