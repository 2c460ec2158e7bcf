"""Links between the eras: a client of one era in front of an upstream that speaks only the other."""
