speed = None
