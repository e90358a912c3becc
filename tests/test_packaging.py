"""What is built, installed and published: sdist, wheel, editable install, metadata."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from clones import ROOT, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
USE = """
import casmore
from importlib import metadata
print(casmore.__file__)
print(metadata.version("casmore"), casmore.fmin(lambda x: x @ x, [1.0, 1.0], 0.5).fun < 1e-8)
"""


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={"PATH": str(Path(sys.executable).parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.mark.slow
def test_the_source_distribution_has_all_that_git_tracks(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert names - {"PKG-INFO"} == set(tracked())


@pytest.mark.slow
def test_the_tests_run_from_the_source_distribution(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    tests = [
        "tests/test_makefile.py",
        "tests/experiments/test_plan.py",
        "tests/reports/test_ecdf.py",
    ]
    printed = _run(
        sys.executable, "-m", "pytest", "-m", "not slow", *tests,
        cwd=folder, PATH="/usr/bin:/bin", PYTHONPATH=str(folder),
    )  # fmt: skip
    assert re.search(r"^\d+ passed in", printed, flags=re.MULTILINE), printed


@pytest.mark.slow
def test_the_wheel_installs_and_holds_the_package_alone(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == {name for name in tracked() if name.startswith("casmore/")}
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    _run(*pip, "--target", tmp_path / "site", wheel, cwd=tmp_path)
    printed = _run(sys.executable, "-c", USE, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    expected = [str(tmp_path / "site/casmore/__init__.py"), f"{PROJECT['version']} True"]
    assert printed.splitlines() == expected
    assert (tmp_path / "site/bin/casmore").is_file()


@pytest.mark.slow
def test_mypy_finds_the_types_of_this_installation(tmp_path: Path) -> None:
    """``make`` installs the project as editable."""
    (tmp_path / "user.py").write_text("import casmore\n\nreveal_type(casmore.CasMore.ask)\n")
    found = _run(sys.executable, "-m", "mypy", "user.py", cwd=tmp_path)
    assert 'Revealed type is "def (self: casmore.algorithms.' in found
    assert "import-untyped" not in found


def test_citation_and_changelog_have_the_version_and_license_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (changed,) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[:1]
    assert f"version: {PROJECT['version']}\n" in citation
    assert f"license: {PROJECT['license']}\n" in citation
    assert changed == PROJECT["version"]
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")
