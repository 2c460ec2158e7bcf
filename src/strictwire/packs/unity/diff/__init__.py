"""`strictwire unity diff`: what changed in scenes and prefabs, in terms of objects, components and fields."""
