"""A program that starts another program with reduced privileges, and the order it takes.

It is a separate program that imports only the standard library, because running Python code between fork and exec is unsafe
in a server with threads. A program runs with every measure of its order or not at all: if the kernel does not permit one,
nothing is started and the reason is reported.

order -> limits -> namespaces -> read-only view of the file system -> no privileges -> Landlock -> seccomp -> exec

`preflight` above decides what a program may access. Below is the kernel.
"""
