# PYTHON_ARGCOMPLETE_OK
"""The command line, ``casmore COMMAND``, with one file per group of commands.

A group is a module with a function ``add_commands``, listed in ``entry_point``. Help and completion
must not import NumPy, which takes time, so commands import what they need in their functions.
"""

from casmore.cli.entry_point import main

__all__ = ["main"]
