"""Guards that failed: their family, the line they guard, what changed."""
