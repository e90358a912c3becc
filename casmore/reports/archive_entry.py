"""Packing runs as entries for COCO's data archive.

What the archive asks for is said at https://coco-platform.org/howto-publish.html: a compressed
file for each algorithm, with a single folder in it; the file's name is the data set's, its first
ten characters say which algorithm it is, and it does not name the suite. An issue at
https://github.com/numbbo/data-archive then gives the publication, a short description of each data
set, and links to the files and to the source code.
"""

import gzip
import io
import re
import tarfile
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from casmore.atomic_io import write_bytes, write_text
from casmore.experiments.store.coco_append import append
from casmore.reports import coco_data, run_data
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.export_source import Source, check_joinable, grouped
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, Runtimes, dimensions, joined, suite_of

_AUTHOR = re.compile(r"[A-Za-z][A-Za-z-]*")

_DESCRIPTION = """\
# Data for COCO's archive

To propose these data for COCO's data archive, put the files online and open an issue at
https://github.com/numbbo/data-archive with the text below; fill in what is in brackets.

## Reference

[The publication's full reference, and a link to the paper]

## Description of the algorithms

{algorithms}
## Link to the data

[A link to each of the files above]

## Source code

{source}
"""


class Run(NamedTuple):
    """A run's folder, and the folder with the merged COCO data of each solver."""

    folder: Path
    data: Path


class _Part(NamedTuple):
    """The COCO data of one solver in one run, and what is known of them."""

    data: Path
    source: Source


def pack(
    runs: Sequence[Run], out: Path, *, author: str = "", only: Sequence[str] = ()
) -> list[Path]:
    """Pack the data of the runs' solvers, and check them by loading them with cocopp.

    Parameters
    ----------
    runs
        The runs. The trials of a solver in several of them become one entry.
    out
        Where to write ``SOLVER_AUTHOR.tgz`` for each solver, and ``DESCRIPTION.md``.
    author
        Appended to the solvers' names, as in most entries of the archive; may be empty.
    only
        Labels of the solvers to pack; default: all.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ReportError
        If there is no such solver; if two runs have the same trials, or trials of a solver under
        different conditions; or if cocopp reads other data from a file than the runs contain.
    BrokenDataError
        If data of a solver do not fit together, for instance of different versions of COCO.
    """
    if author and not _AUTHOR.fullmatch(author):
        raise ReportError(f"author {author!r}: give a name of letters A to Z and hyphens")
    solvers = _solvers(runs, only)
    parts = [part for own in solvers.values() for part in own]
    check_joinable([part.source for part in parts])
    files, algorithms = [], []
    for label, own in solvers.items():
        name = f"{label}_{author}" if author else label
        file = out / f"{name}.tgz"
        runtimes = _joined(own)
        with tempfile.TemporaryDirectory(prefix="casmore-archive-") as scratch:
            folder = Path(scratch, label)
            folder.mkdir()
            append([part.data for part in own], folder)
            content = _packed(folder, name)
            packed = Path(scratch, file.name)
            packed.write_bytes(content)
            _check(packed, runtimes)
        write_bytes(file, content)
        files.append(file)
        algorithms.append(_described(own, file, runtimes))
    text = _DESCRIPTION.format(algorithms="\n".join(algorithms), source=_source_code(parts))
    write_text(out / "DESCRIPTION.md", text)
    return [*files, out / "DESCRIPTION.md"]


def _solvers(runs: Sequence[Run], only: Sequence[str]) -> dict[str, list[_Part]]:
    """Return what the runs have of each of these solvers, or of all."""
    found: dict[str, list[tuple[Path, Path]]] = {}
    for run in runs:
        for data in run_data.solver_folders(run.folder, run.data):
            found.setdefault(data.name, []).append((run.folder, data))
    for label in only:
        if label not in found:
            names = ", ".join(str(run.folder) for run in runs)
            raise ReportError(f"there is no solver {label!r} in {names}, but {', '.join(found)}")
    return {
        label: [_part(folder, data) for folder, data in own]
        for label, own in found.items()
        if not only or label in only
    }


def _part(run: Path, data: Path) -> _Part:
    source = Source(str(run), coco_data.read(data), (), (), [run_data.provenance(run)])
    return _Part(data, source)


def _joined(own: Sequence[_Part]) -> list[Runtimes]:
    """Return the trials of a solver, by dimension and function."""
    groups = grouped(r for part in own for r in part.source.runtimes)
    return [joined(group) for _, group in sorted(groups.items())]


def _source_code(parts: Sequence[_Part]) -> str:
    """Return the commits and the versions that made the data."""
    runs = [run for part in parts for run in part.source.runs]
    commits = dict.fromkeys(commit for run in runs for commit in run["commits"])
    versions = dict.fromkeys(
        f"{name} {version}"
        for run in runs
        for own in run["versions"]
        for name, version in own.items()
    )
    return (
        f"casmore (git commit: {', '.join(commits) or 'unknown'}), with "
        f"{', '.join(versions) or 'unknown versions'}. [A link]"
    )


def _packed(folder: Path, name: str) -> bytes:
    """Return a compressed tar file with the folder's content below ``name``, always the same."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                member = tarfile.TarInfo(f"{name}/{path.relative_to(folder).as_posix()}")
                member.size = path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(member, file)
    return gzip.compress(content.getvalue(), compresslevel=9, mtime=0)


def _check(file: Path, own: Sequence[Runtimes]) -> None:
    """Check that cocopp, which unpacks it beside the file, reads the run's data from it."""
    import_cocopp()
    from cocopp.pproc import DataSetList

    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(said):
        warnings.simplefilter("ignore")  # of fewer than 15 instances, for one
        try:
            read = {(int(d.dim), int(d.funcId)): d for d in DataSetList(str(file))}
        except Exception as error:  # cocopp raises whatever its parsers come across
            raise ReportError(
                f"cocopp can't read {file.name}: {type(error).__name__}: {error}"
            ) from error
        wrong = [r for r in own if not _same(r, read.pop((r.dimension, r.function), None))]
    if wrong or read:
        missing = [f"f{r.function} in {r.dimension}-D" for r in wrong]
        more = [f"f{f} in {n}-D" for n, f in read]
        raise ReportError(
            f"cocopp does not read from {file.name} what the run has: {missing + more}"
        )


def _same(own: Runtimes, data_set: Any) -> bool:
    if data_set is None or sorted(data_set.instancenumbers) != sorted(own.instances):
        return False
    ert = data_set.detERT([target * (1 + 1e-9) for target in ERT_TARGETS])
    return bool(np.allclose(ert, own.ert[ERT_ROWS], rtol=1e-9))


def _described(own: Sequence[_Part], file: Path, runtimes: Sequence[Runtimes]) -> str:
    content = file.read_bytes()
    trials = sorted({r.trials for r in runtimes})
    lines = [
        f"- **{runtimes[0].solver}**: [a sentence on the algorithm]",
        f"  - file: `{file.name}` ({len(content) / 1e6:.1f} MB, SHA-256 "
        f"`{sha256(content).hexdigest()}`)",
        f"  - suite: {suite_of(runtimes).name}, {len({r.function for r in runtimes})} functions in "
        f"{_spelled(runtimes)}, {'/'.join(map(str, trials))} trials each",
    ]
    conditions: dict[str, list[Runtimes]] = {}
    for part in own:
        conditions.setdefault(_conditions(part), []).extend(part.source.runtimes)
    for condition, where in conditions.items():
        lines.append(f"  - {f'{_spelled(where)}: ' if len(conditions) > 1 else ''}{condition}")
    return "\n".join(lines) + "\n"


def _conditions(part: _Part) -> str:
    """Return the conditions of a solver's trials in a run."""
    config, label = part.source.runs[0]["config"], part.data.name
    solver: dict[str, Any] = next(
        (s for s in config.get("solvers", []) if s.get("label") == label), {}
    )
    text = (
        f"budget: {config.get('budget', {}).get('evaluations_per_dimension', 'unknown')} "
        f"evaluations per dimension; restarts: {solver.get('restarts', 'unknown')}; "
        f"start: {_start(config)}"
    )
    return f"{text}; settings: {solver['settings']}" if solver.get("settings") else text


def _start(config: dict[str, Any]) -> str:
    start = config.get("start")
    if not start:
        return "unknown"
    return f"uniform in [{start['lower']:g}, {start['upper']:g}]^n, sigma0 = {start['sigma0']:g}"


def _spelled(runtimes: Sequence[Runtimes]) -> str:
    return f"{', '.join(map(str, dimensions(runtimes)))}-D"
