# PYTHON_ARGCOMPLETE_OK
"""The command line, ``casmore COMMAND``: a file for each group of commands.

A group is a module with a function ``add_commands``, listed in ``entry_point``. Help and completion
must not take the time to import NumPy: a module imports what its commands need in their functions.
"""

from casmore.cli.entry_point import main

__all__ = ["main"]
