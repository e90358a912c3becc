"""The uniform ask-and-tell interface: protocol, registry, wrapped solvers, restarts."""
