"""Which kernels a run is computed with: recorded, compared, and the same everywhere if wanted."""

import io
import json
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest
from harness import config, tree

from casmore.experiments import backends, kernels, manifest, runner
from casmore.experiments.backends.cell import Cell
from casmore.experiments.config.bbob import Config
from casmore.experiments.kernels import NotPortableError, check_portable
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import Workplace

_ALL_OF_NUMPYS = " ".join(kernels._umath().__cpu_dispatch__)
# how processors differ in what is chosen for them: BLAS, NumPy, and the C library
ELSEWHERE = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": _ALL_OF_NUMPYS,
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",
}


def _is_portable_here() -> bool:
    try:
        check_portable()
    except NotPortableError:
        return False
    return True


needs_portable = pytest.mark.skipif(
    not _is_portable_here(), reason="needs x86-64 with AVX2 and OpenBLAS"
)


def _config(**run: Any) -> Config:
    return config(
        solvers=[{"name": "cas-more", "label": "CAS"}],
        suite={"functions": "15", "dimensions": [5], "instances": "1"},
        budget={"evaluations_per_dimension": 400},
        run=run,
    )


def _run(root: Path, **settings: Any) -> str:
    """Run the config; return what was said."""
    said = io.StringIO()
    runner.run(_config(**settings), root, workers=1, stream=said)
    return said.getvalue()


def _sessions(root: Path) -> list[dict[str, Any]]:
    sessions: list[dict[str, Any]] = json.loads((root / "manifest.json").read_text())["sessions"]
    return sessions


@needs_portable
def test_portable_runs_give_the_same_bytes_whatever_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, portable = tmp_path / "usual", tmp_path / "portable"
    assert "kernels" not in _run(usual)
    assert "kernels" not in _run(portable, portable=True)
    # as expected before the workers began
    (session,) = _sessions(portable)
    assert session["kernels"] == [kernels.kernels(portable=True)]
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    elsewhere = tmp_path / "usual elsewhere", tmp_path / "portable elsewhere"
    shutil.copytree(usual, elsewhere[0])  # resumed on the other machine, with its unit to do again
    shutil.rmtree(elsewhere[0] / "units")
    said = _run(elsewhere[0])
    assert "different kernels" in said
    assert "portable = true" in said
    assert "Nehalem" in said
    assert "kernels" not in _run(elsewhere[1], portable=True)
    assert tree(elsewhere[1] / "data") == tree(portable / "data")
    assert tree(elsewhere[0] / "data") != tree(usual / "data")


@needs_portable
def test_a_cells_kernels_are_portable_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    folder = RunFolder(tmp_path)
    with folder.session() as token:
        place = Workplace(folder.root, folder.share, token, portable=True)
        outcomes = Cell([], None, True).run(make_plan(_config()), place)
    assert outcomes is not None
    assert [outcome.kernels for outcome in outcomes] == [kernels.kernels(portable=True)]


HERE = {"blas": ["openblas 0.3.30 Haswell"], "simd": ["X86_V3"], "versions": {"numpy": "2.4"}}
THERE = {**HERE, "simd": [], "versions": {"numpy": "2.3"}}


def test_sessions_on_different_kernels_are_told_once(tmp_path: Path) -> None:
    told: list[list[str]] = []
    for machine in (HERE, HERE, THERE, HERE, None):
        notes: list[str] = []
        with manifest.session(
            RunFolder(tmp_path), _config(), workers=1, tell=notes.append
        ) as session:
            if machine:
                session.expect_kernels(machine)
                session.add_kernels(machine)
                session.add_kernels(machine)
        told.append(notes)
    assert [len(notes) for notes in told] == [0, 0, 1, 1, 0]
    assert "simd X86_V3 and none, versions numpy 2.4 and numpy 2.3" in told[2][0]
    assert "simd none and X86_V3" in told[3][0]
    assert [session["notes"] for session in _sessions(tmp_path)] == told


def test_shards_that_run_at_the_same_time_are_compared(tmp_path: Path) -> None:
    told: list[str] = []
    first, second = (RunFolder(tmp_path, f"{i}-of-2") for i in (1, 2))
    with manifest.session(first, _config(), workers=1, tell=told.append) as one:
        one.add_kernels(HERE)
        with manifest.session(second, _config(), workers=1, tell=told.append) as two:
            two.add_kernels(THERE)
        assert told == []
    (note,) = told
    assert "simd none and X86_V3" in note


def test_workers_with_different_kernels_are_told(tmp_path: Path) -> None:
    with manifest.session(RunFolder(tmp_path), _config(), workers=1) as session:
        for libm in ("glibc 2.36", "glibc 2.40", "glibc 2.40"):
            session.add_kernels({"libm": libm})
    (session_record,) = _sessions(tmp_path)
    assert session_record["kernels"] == [{"libm": "glibc 2.36"}, {"libm": "glibc 2.40"}]
    (note,) = session_record["notes"]
    assert "libm glibc 2.36 and glibc 2.40" in note


@pytest.mark.parametrize(
    ("what", "value", "message"),
    [
        ("machine", "arm64", "is for x86-64; this machine is arm64"),
        ("_processor_flags", ["sse2", "avx2"], "needs a processor with AVX2 and FMA; .* lacks fma"),
        ("kernels", {"blas": ["mkl 2024"]}, "with OpenBLAS, as on PyPI, not mkl 2024"),
    ],
)
def test_where_portable_cannot_be_had_it_is_refused(
    what: str, value: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(kernels, "_processor_flags", lambda: ["avx2", "fma"])
    owner = platform if what == "machine" else kernels
    monkeypatch.setattr(owner, what, lambda: value)
    with pytest.raises(backends.BackendError, match=message):
        backends.make(_config(portable=True).run)


def test_the_config_of_a_portable_run_is_the_same() -> None:
    assert _config(portable=True).digest == _config().digest
