"""The client side of the Language Server Protocol: framing and requests. Knows no engine and starts no process.

Our own, because the libraries do not fit: pygls leaves a request pending forever when a reply does not deserialise, and
multilspy downloads servers. Raw JSON is what the tools normalise anyway.
"""
