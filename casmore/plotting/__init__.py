"""The common style of all figures, and the view of a run."""
