"""The composition root: the author's API, and everything that is built and owned for as long as a server runs."""
