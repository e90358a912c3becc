"""``import casmore``: its public names, imported on first use, and where they work."""

import ast
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import casmore


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_is_there_for_people_and_for_type_checkers() -> None:
    assert set(casmore.__all__) <= set(dir(casmore))
    for name in casmore.__all__:
        assert getattr(casmore, name).__name__ == name
    source = ast.parse(Path(casmore.__file__).read_text(encoding="utf-8"))
    for_checkers = {
        alias.name
        for statement in ast.walk(source)
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("casmore.")
        for alias in statement.names
    }
    assert for_checkers == set(casmore.__all__)


def test_star_import_and_version() -> None:
    names: dict[str, object] = {}
    exec("from casmore import *", names)
    assert set(casmore.__all__) <= set(names)
    assert casmore.__version__ == metadata.version("casmore")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'casmore' has no attribute 'fmim'"):
        casmore.fmim  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'fmim'"):
        exec("from casmore import fmim")


def test_importing_the_package_imports_numpy_only_when_a_name_is_used() -> None:
    code = (
        "import sys, casmore; assert not {'numpy', 'scipy'} & {*sys.modules}; casmore.fmin; "
        "assert {'numpy', 'scipy'} <= {*sys.modules}; "
        "print(*{'matplotlib', 'cocoex', 'pydantic', 'rich'} & {*sys.modules})"
    )
    assert _python(code) == "\n"
