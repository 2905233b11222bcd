"""Events that values emit, and what outlives the call that changes it."""
