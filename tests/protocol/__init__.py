"""The protocol as every client sees it: the same cases for our own server and for the guard in front of that server.

Both have the same endpoint, so an answer that differs is a bug of the guard's backend.
"""
