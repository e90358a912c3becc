"""Experiment configs as TOML files: data model and validation."""
