"""Web search by a provider that the operator chooses; off without one."""
