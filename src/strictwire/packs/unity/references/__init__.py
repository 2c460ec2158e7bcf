"""References between assets, in every form Unity has: found, resolved, classified, and traced back to their users."""
