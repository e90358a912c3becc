"""The numerical kernels of a process, which determine the last digits of its results.

NumPy, SciPy's BLAS and the C library select kernels for the processor when they are loaded. With
the same kernels a unit gives the same bytes. With other kernels rounding errors differ, and after
some iterations so does the trajectory. The environment of a process can fix the kernels before it
starts, so that they are the same on all machines.
"""

import importlib
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from casmore.experiments.limits import ENVIRONMENT

# The third level of x86-64: AVX2 and FMA, available on nearly all processors since 2015. Lower
# levels cost CAS-MORE more than half of its speed in 40-D; the level above gains nothing.
_BLAS_CORE = "Haswell"
_PROCESSOR_FLAGS = ("avx2", "fma")
# NumPy's names of the features of that level; since 2.4 the names of the levels
_LEVEL_3 = {
    *("X86_V2", "X86_V3", "SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "POPCNT", "SSE42", "AVX"),
    *("F16C", "FMA3", "AVX2"),
}


class NotPortableError(RuntimeError):
    """This machine does not support ``[run] portable = true``."""


def worker_environment(portable: bool) -> dict[str, str]:
    """Return the environment variables of a worker, set before it starts.

    Parameters
    ----------
    portable
        Whether to select the portable kernels.
    """
    if not portable:
        return ENVIRONMENT
    return {
        **ENVIRONMENT,
        "OPENBLAS_CORETYPE": _BLAS_CORE,
        "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in _dispatched() if f not in _LEVEL_3),
        "NPY_ENABLE_CPU_FEATURES": "",  # NumPy accepts only one of the two
        "GLIBC_TUNABLES": "",
    }


def check_portable() -> None:
    """Check that this machine supports the portable kernels.

    Raises
    ------
    NotPortableError
        If it is not an x86-64 machine, lacks AVX2 or FMA, or uses another BLAS than OpenBLAS.
    """
    machine = platform.machine().lower()
    if machine not in ("x86_64", "amd64"):
        raise NotPortableError(f"run.portable = true is for x86-64; this machine is {machine}")
    lacking = [flag for flag in _PROCESSOR_FLAGS if flag not in (_processor_flags() or [flag])]
    if lacking:
        raise NotPortableError(
            f"run.portable = true needs a processor with AVX2 and FMA; {processor()} lacks "
            f"{' and '.join(lacking)}"
        )
    if other := [b for b in kernels()["blas"] if not b.startswith("openblas")]:
        raise NotPortableError(
            f"run.portable = true needs NumPy and SciPy with OpenBLAS, as on PyPI, not {other[0]}"
        )


def kernels(*, portable: bool = False) -> dict[str, Any]:
    """Return the kernels of this process.

    Parameters
    ----------
    portable
        Return the kernels of a worker started with `worker_environment` instead.

    Returns
    -------
    dict
        ``machine``, ``blas`` (kernel of each BLAS), ``simd`` (of NumPy, beyond its baseline),
        ``libm`` (which also depends on the processor), and ``versions``.
    """
    found = _kernels()
    if not portable:
        return found
    return {
        **found,
        "blas": sorted({f"{b.rpartition(' ')[0]} {_BLAS_CORE}" for b in found["blas"]}),
        "simd": [f for f in _dispatched() if f in _LEVEL_3],
    }


@cache
def _kernels() -> dict[str, Any]:
    import scipy.linalg  # has its own BLAS, which is visible only once it is loaded

    libraries = [lib for lib in threadpoolctl.threadpool_info() if lib["user_api"] == "blas"]
    own = [lib for lib in libraries if re.search(r"[/\\\\](num|sci)py", lib["filepath"])]
    blas = {
        " ".join(
            str(lib[key]) for key in ("internal_api", "version", "architecture") if lib.get(key)
        )
        for lib in own or libraries  # not those of a solver's packages
    }
    features = _umath().__cpu_features__
    flags = _processor_flags() or []
    return {
        "machine": platform.machine(),
        "blas": sorted(blas),
        "simd": [feature for feature in _dispatched() if features.get(feature)],
        "libm": " ".join(filter(None, [*platform.libc_ver(), *(f for f in flags if f == "fma")])),
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__},
    }


def _dispatched() -> list[str]:
    """Return the CPU features that NumPy uses beyond its baseline."""
    return list(_umath().__cpu_dispatch__)


def _umath() -> Any:
    """Return NumPy's private module with the CPU features; there is no public one."""
    core = "_core" if hasattr(np, "_core") else "core"  # before 2.0
    return importlib.import_module(f"numpy.{core}._multiarray_umath")


def processor() -> str:
    """Return the processor's name."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _processor_flags() -> list[str] | None:
    """Return the features of the processor; None if unknown."""
    flags = _cpuinfo("flags")
    return flags.split() if flags else None


@cache
def _cpuinfo(key: str) -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.partition(":")[0].strip() == key:
                return line.partition(":")[2].strip()
    except OSError:  # not on Linux
        pass
    return ""


def described(found: dict[str, Any]) -> str:
    """Return kernels as one line of text."""
    return ", ".join(f"{key} {_shown(value)}" for key, value in found.items())


def difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return how the kernels of two sessions or units differ; empty if they do not."""
    return ", ".join(
        f"{key} {_shown(old.get(key))} and {_shown(new.get(key))}"
        for key in new
        if old.get(key) != new.get(key)
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {version}" for key, version in value.items())
    if isinstance(value, list):
        return "+".join(value) or "none"
    return str(value)
