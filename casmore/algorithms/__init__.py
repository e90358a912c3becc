"""The algorithms of the paper, one idea per file; they need only NumPy and SciPy."""
