"""The same two tools on strictwire and on each peer. Every file is a program of its own."""
