"""An experiment as a TOML file: its model, and everything that can be wrong with one."""
