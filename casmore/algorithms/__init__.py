"""The algorithms of the paper, one idea a file; numpy and scipy alone."""
