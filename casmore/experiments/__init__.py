"""A TOML config -> a plan of work units -> a runner -> published results.

It needs a POSIX system: locks that the kernel releases when their holder dies, renames that
replace, and signals that interrupt a unit.
"""

import importlib.util

if importlib.util.find_spec("fcntl") is None:
    raise ImportError(
        "experiments and reports need Linux or macOS, or on Windows its subsystem for Linux (WSL); "
        "casmore.fmin and the other names of 'import casmore' work everywhere",
        name="fcntl",
    )
