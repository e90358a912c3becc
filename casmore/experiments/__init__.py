"""Experiments: from a TOML config to a plan of work units, a runner, and published results.

This package needs a POSIX system: file locks that the kernel releases when a process dies, atomic
renames, and signals that interrupt a unit.
"""

import importlib.util

if importlib.util.find_spec("fcntl") is None:
    raise ImportError(
        "experiments and reports need Linux or macOS, or on Windows its subsystem for Linux (WSL); "
        "casmore.fmin and the other names of 'import casmore' work everywhere",
        name="fcntl",
    )
