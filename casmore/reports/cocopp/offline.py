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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs


def import_cocopp(cache: Path | None = None) -> ModuleType:
    """Import cocopp cut off from the network.

    Parameters
    ----------
    cache
        An existing folder for what cocopp keeps on disk; default: a temporary one.

    Returns
    -------
    ModuleType
        ``cocopp``; unchanged if this process has imported it before.
    """
    if "cocopp" in sys.modules:
        return sys.modules["cocopp"]
    with tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as scratch:
        home = str(cache or scratch)
        with (
            _replaced(platformdirs, "user_cache_dir", lambda *_, **__: home),
            _replaced(urllib.request, "urlretrieve", _refuse),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            return importlib.import_module("cocopp")


@contextmanager
def _replaced(module: ModuleType, name: str, value: object) -> Iterator[None]:
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, original)


def _refuse(url: str, *_: Any, **__: Any) -> None:
    raise urllib.error.URLError(f"casmore runs cocopp offline; not fetched: {url}")
