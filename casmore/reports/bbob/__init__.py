"""Figures and tables of a BBOB experiment, from the exported table of its trials."""
