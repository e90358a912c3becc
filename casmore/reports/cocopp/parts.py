"""The parts of a report by cocopp: what each is made of, and how they become one folder of pages.

A part comes out of a process of its own, in a folder named after the time, beside an index page and
a file of LaTeX commands. All parts together are what cocopp makes of the same data in one process.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from importlib import metadata
from itertools import chain, count, pairwise
from pathlib import Path

from casmore.reports.cocopp.tidy import tidy

COMPARISON = "comparison"
INDEX = "index.html"
SINGLE_INDEX = "index1.html"
_COMMANDS = "cocopp_commands.tex"
# in each folder of the report, for the next time: what it is made of, and its LaTeX commands
_STAMP = ".made-of"
_OWN_COMMANDS = f".{_COMMANDS}"
_ARCHIVE = re.compile(r"[.](tgz|tar|tar[.]gz|zip)$")


class Kind(StrEnum):
    """What a process makes; the comparison is made in two halves, about equal in a quick report."""

    SINGLE = "single"
    ECDFS = "ecdfs"
    REST = "rest"  # tables, scatter plots, scaling


@dataclass(frozen=True)
class Part:
    """A part of the report.

    Attributes
    ----------
    place
        The name of its folder in the report.
    data
        The algorithms it is about, a folder or archive for each.
    state
        A hash of all that it is made of.
    """

    kind: Kind
    place: str
    data: tuple[Path, ...]
    state: str

    @property
    def title(self) -> str:
        """What a reader calls it."""
        if self.kind is Kind.SINGLE:
            return f"{self.place.removeprefix('single-')} alone"
        return f"{self.place}, {'ECDFs' if self.kind is Kind.ECDFS else 'tables and plots'}"

    def index(self, output: Path) -> Path | None:
        """Return the main page in what cocopp has written to ``output``, if there is one."""
        name = SINGLE_INDEX if self.kind is Kind.SINGLE else INDEX
        return next(output.glob(f"*/{name}"), None)

    def is_in(self, report: Path) -> bool:
        """Whether the report has this part, made of the same data."""
        stamp = report / self.place / _STAMP
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == self.state


def parts_of(folders: Sequence[Path], *, full: bool) -> list[Part]:
    """Return the parts of a report, those that take longest first.

    Each algorithm has one of its own if the report is to be full, or there is no other.
    """
    digests = [_digest(folder) for folder in folders]
    how = f"{full} {metadata.version('cocopp')} {metadata.version('casmore')}"

    def state(*digests: str) -> str:
        return sha256("\n".join([how, *digests]).encode()).hexdigest()

    ecdfs, rest = (
        Part(kind, COMPARISON, tuple(folders), state(*digests)) for kind in (Kind.ECDFS, Kind.REST)
    )
    if len(folders) > 1 and not full:
        return [ecdfs, rest]
    singles: dict[str, Part] = {}
    for folder, digest in zip(folders, digests, strict=True):
        name = f"single-{_ARCHIVE.sub('', folder.name)}"
        # the same algorithm twice, of two runs, has two places
        places = chain([name], (f"{name}-{i}" for i in count(2)))
        place = next(place for place in places if place not in singles)
        singles[place] = Part(Kind.SINGLE, place, (folder,), state(digest))
    return [ecdfs, *singles.values(), rest]


def _digest(data: Path) -> str:
    """Return a hash of an algorithm's data and its name."""
    digest = sha256(f"{data.name}\n".encode())
    files = sorted(data.rglob("*")) if data.is_dir() else [data]
    for path in files:
        if path.is_file():
            digest.update(f"{path.relative_to(data)} ".encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def assemble(parts: Sequence[Part], outputs: dict[Part, Path], last: Path, report: Path) -> None:
    """Put the parts together to a new report.

    Parameters
    ----------
    parts
        All of it, in the order of ``parts_of``.
    outputs
        What cocopp has written, of those that were made now; they are moved.
    last
        The report that has the others; it stays as it is.
    report
        The new one's folder, which is not there yet.
    """
    report.mkdir()
    for part in parts:
        folder = report / part.place
        if part in outputs:
            _add(_settle(part, outputs[part]), folder)
            (outputs[part] / INDEX).replace(report / INDEX)
        elif not folder.exists():  # the comparison's halves are one folder
            shutil.copytree(last / part.place, folder)
    comparison, *singles = dict.fromkeys(part.place for part in parts)
    _write_links(report / INDEX, singles)
    # LaTeX keeps the first definition of a command; cocopp puts the later ones before the earlier
    commands = [report / place / _OWN_COMMANDS for place in (comparison, *reversed(singles))]
    (report / _COMMANDS).write_bytes(b"".join(path.read_bytes() for path in commands))
    tidy(report)


def _settle(part: Part, output: Path) -> Path:
    """Make what cocopp has written a folder that says what it is made of, with a name to stay."""
    index = part.index(output)
    assert index is not None, f"nothing was made of {part}"
    made = index.parent  # NAME_MMDDHHhMMSS
    commands = (output / _COMMANDS).read_bytes().replace(made.name.encode(), part.place.encode())
    (made / _OWN_COMMANDS).write_bytes(commands)
    (made / _STAMP).write_text(part.state, encoding="utf-8")
    return made


def _add(made: Path, folder: Path) -> None:
    """Move the folder ``made`` to its place, or into it if the comparison's other half is there.

    Both halves write the pages of tables and plots; the half that fills them is added last. Both
    write a page with links to what they have made, and LaTeX commands.
    """
    if not folder.exists():
        made.rename(folder)
        return
    index, commands = made / INDEX, made / _OWN_COMMANDS
    index.write_bytes(_merge_lines((folder / INDEX).read_bytes(), index.read_bytes()))
    commands.write_bytes(commands.read_bytes() + (folder / _OWN_COMMANDS).read_bytes())
    shutil.copytree(made, folder, dirs_exist_ok=True)


def _merge_lines(first: bytes, second: bytes) -> bytes:
    """Return the first page with each line that only the second has, below the one it follows."""
    merged = first.splitlines(keepends=True)
    for before, line in pairwise(second.splitlines(keepends=True)):
        if line not in merged:
            merged.insert(merged.index(before) + 1, line)
    return b"".join(merged)


def _write_links(index: Path, singles: Sequence[str]) -> None:
    """Let the first page, which was that of one part, link to all."""

    def link(place: str, name: str) -> str:
        return f'&nbsp;&nbsp;<a href="{place}/{name}">{place}</a><br>\n'

    head, _, _ = index.read_text(encoding="utf-8").partition("<H2>")
    body = "<H2>Comparison data</H2>\n" + link(COMPARISON, INDEX)
    body += "<H2>Single algorithm data</H2>\n"
    body += "".join(link(place, SINGLE_INDEX) for place in sorted(singles))
    index.write_text(f"{head}{body}\n</BODY>\n</HTML>", encoding="utf-8")
