"""Packing a run as entries for COCO's data archive.

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
from typing import Any

import numpy as np

from casmore.atomic_io import write_bytes, write_text
from casmore.reports import coco_data, run_data
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, Runtimes, dimensions, suite_of

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


def pack(
    run: Path,
    out: Path,
    *,
    data: Path | None = None,
    author: str = "",
    only: Sequence[str] = (),
) -> list[Path]:
    """Pack the data of a run's solvers, and check them by loading them with cocopp.

    Parameters
    ----------
    run
        The run's folder.
    out
        Where to write ``SOLVER_AUTHOR.tgz`` for each solver, and ``DESCRIPTION.md``.
    data
        The folder with the merged COCO data of each solver; default: ``RUN/data``.
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
        If there is no such solver, or cocopp reads other data from a file than the run contains.
    """
    if author and not _AUTHOR.fullmatch(author):
        raise ReportError(f"author {author!r}: give a name of letters A to Z and hyphens")
    folders = {folder.name: folder for folder in run_data.solver_folders(run, data)}
    unknown = [label for label in only if label not in folders]
    if unknown:
        raise ReportError(f"{run} has no solver {unknown[0]!r}; it has {', '.join(folders)}")
    files, algorithms = [], []
    for label in only or folders:
        name = f"{label}_{author}" if author else label
        file = out / f"{name}.tgz"
        write_bytes(file, _packed(folders[label], name))
        own = coco_data.read(folders[label])
        _check(file, own)
        files.append(file)
        algorithms.append(_described(run, label, file, own))
    source = run_data.provenance(run)
    versions = ", ".join(f"{k} {v}" for v in source["versions"] for k, v in v.items())
    commits = ", ".join(source["commits"]) or "unknown"
    text = _DESCRIPTION.format(
        algorithms="\n".join(algorithms),
        source=f"casmore (git commit: {commits}), with {versions or 'unknown versions'}. [A link]",
    )
    write_text(out / "DESCRIPTION.md", text)
    return [*files, out / "DESCRIPTION.md"]


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
    """Check that cocopp reads the run's data from the file."""
    import_cocopp()
    from cocopp.pproc import DataSetList

    said = io.StringIO()
    # cocopp unpacks a file next to it
    with tempfile.TemporaryDirectory(prefix="casmore-archive-") as scratch:
        link = Path(scratch, file.name)
        link.symlink_to(file.resolve())
        with warnings.catch_warnings(), redirect_stdout(said):
            warnings.simplefilter("ignore")  # of fewer than 15 instances, for one
            try:
                read = {(int(d.dim), int(d.funcId)): d for d in DataSetList(str(link))}
            except Exception as error:  # cocopp raises whatever its parsers come across
                raise ReportError(
                    f"cocopp can't read {file}: {type(error).__name__}: {error}"
                ) from error
            wrong = [r for r in own if not _same(r, read.pop((r.dimension, r.function), None))]
    if wrong or read:
        missing = [f"f{r.function} in {r.dimension}-D" for r in wrong]
        more = [f"f{f} in {n}-D" for n, f in read]
        raise ReportError(f"cocopp does not read from {file} what the run has: {missing + more}")


def _same(own: Runtimes, data_set: Any) -> bool:
    if data_set is None or tuple(data_set.instancenumbers) != own.instances:
        return False
    ert = data_set.detERT([target * (1 + 1e-9) for target in ERT_TARGETS])
    return bool(np.allclose(ert, own.ert[ERT_ROWS], rtol=1e-9))


def _described(run: Path, label: str, file: Path, own: Sequence[Runtimes]) -> str:
    config = run_data.config(run)
    solver: dict[str, Any] = next(
        (s for s in config.get("solvers", []) if s.get("label") == label), {}
    )
    budget = config.get("budget", {}).get("evaluations_per_dimension", "unknown")
    start = config.get("start", {})
    content = file.read_bytes()
    trials = sorted({r.trials for r in own})
    lines = [
        f"- **{label}**: [a sentence on the algorithm]",
        f"  - file: `{file.name}` ({len(content) / 1e6:.1f} MB, SHA-256 "
        f"`{sha256(content).hexdigest()}`)",
        f"  - suite: {suite_of(own).name}, {len({r.function for r in own})} functions in "
        f"{', '.join(map(str, dimensions(own)))}-D, {'/'.join(map(str, trials))} trials each",
        f"  - budget: {budget} evaluations per dimension; restarts: "
        f"{solver.get('restarts', 'unknown')}; start: {start or 'unknown'}",
    ]
    if solver.get("settings"):
        lines.append(f"  - settings: {solver['settings']}")
    return "\n".join(lines) + "\n"
