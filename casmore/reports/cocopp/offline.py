"""cocopp without a network: no waiting, no warnings, nothing written into the user's cache.

On import cocopp looks up its archive of published data in the user's cache, and where it finds none
asks three web servers in turn, without a timeout: behind a firewall that drops packets this takes
minutes. If all fail it leaves behind a cache that says the archive is empty. Reports read local
folders only, so cocopp gets a private cache, and each of its downloads fails at once.
"""

import importlib
import sys
import tempfile
import urllib.error
import urllib.request
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

INSTALL_HINT = "pip install 'casmore[bbob]'"


class MissingReportsExtraError(ImportError):
    """A package that reports need is not installed."""


def import_cocopp(cache: Path | None = None) -> ModuleType:
    """Import cocopp cut off from the network.

    Parameters
    ----------
    cache
        An existing folder for what cocopp keeps on disk; default: one that is gone afterwards.

    Returns
    -------
    ModuleType
        ``cocopp``, as it is if this process has imported it before.

    Raises
    ------
    MissingReportsExtraError
        If cocopp, or one of its own dependencies, is not installed.
    """
    if "cocopp" in sys.modules:
        return sys.modules["cocopp"]
    with tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as scratch:
        try:
            platformdirs = importlib.import_module("platformdirs")
            home = str(cache or scratch)
            with (
                patch.object(platformdirs, "user_cache_dir", lambda *_, **__: home),
                patch.object(urllib.request, "urlretrieve", _refuse),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                return importlib.import_module("cocopp")
        except ModuleNotFoundError as error:
            raise MissingReportsExtraError(
                f"reports need the package {error.name!r}: {INSTALL_HINT}"
            ) from error


def _refuse(url: str, *_: Any, **__: Any) -> None:
    raise urllib.error.URLError(f"casmore runs cocopp offline; not fetched: {url}")
