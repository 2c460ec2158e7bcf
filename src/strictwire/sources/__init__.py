"""Where contracts come from: schema folders and other places outside the process. Above: the composition root and verbs."""
