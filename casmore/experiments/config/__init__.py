"""An experiment as a TOML file: its model, and its validation."""
