"""`strictwire unity check`: rules about a whole project, with severities, waivers and a baseline."""
