"""The uniform ask/tell adapter: the protocol, the registry, one file a solver, restarts."""
