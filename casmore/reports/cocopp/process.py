"""The process a part of cocopp's report is made in; ``cocopp_bridge`` starts it.

A process of its own, because cocopp keeps its options in globals and never takes them back.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from casmore.experiments.limits import prepare_worker
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.cocopp.parts import Kind


def _keep_out_of_the_package(cocopp_folder: Path, scratch: Path) -> None:
    """Let cocopp unpack its reference data in ``scratch``.

    It would do so beside the archive, in its installed folder, which may be read-only, and may be
    in use by another report.
    """
    from cocopp.testbedsettings import GECCOBBOBTestbed

    settings = GECCOBBOBTestbed.settings
    archive = cocopp_folder / settings["reference_algorithm_filename"]
    # cocopp joins this with its own folder, which an absolute path overrides
    settings["reference_algorithm_filename"] = str(shutil.copy2(archive, scratch))


@contextmanager
def _major_ticks_labelled_alone() -> Iterator[None]:
    """Keep Matplotlib from labelling minor ticks of log axes.

    It does on axes as short as 2 to 40-D, and cocopp's own labels end up below its "4 x 10^0".
    """
    from matplotlib.axis import Axis
    from matplotlib.scale import LogScale
    from matplotlib.ticker import NullFormatter

    name = "set_default_locators_and_formatters"
    original = getattr(LogScale, name)

    def without_minor_labels(scale: LogScale, axis: Axis) -> None:
        original(scale, axis)
        axis.set_minor_formatter(NullFormatter())

    with patch.object(LogScale, name, without_minor_labels):
        yield


def _beside_no_other(data: Path, scratch: Path) -> Path:
    """Return the data as they are, or if they are an archive, a link to it in a folder of its own.

    cocopp unpacks an archive beside it, where another process may be doing just that.
    """
    if data.is_dir():
        return data
    link = Path(tempfile.mkdtemp(dir=scratch), data.name)
    link.symlink_to(data)
    return link


def _set_up(cocopp: ModuleType, kind: Kind, *, full: bool) -> list[str]:
    """Set what cocopp has no options for; return the options."""
    settings: Any = cocopp.genericsettings
    if kind is not Kind.SINGLE:
        # an empty background makes cocopp write the comparison pages for one algorithm, too:
        # without them there would be no ECDF over all targets at all
        settings.background = {None: []}
        # of one algorithm it would make the part alone before
        cocopp.rungeneric1.main = lambda *_: None
    if kind is Kind.ECDFS:
        settings.isTab = settings.isScatter = settings.isFig = False
    if kind is Kind.REST:
        settings.isRLDistr = False
    if full:
        return ["--in-a-hurry=0", "--include-fonts"]
    # the pages show SVG; PDF beside it doubles the time ("--no-svg" has no effect
    # any more). A page for each function in each dimension would take as long again.
    settings.figure_file_formats = ["svg"]
    return ["--no-rld-single-fcts"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a part of cocopp's report of the given data.

    Raises
    ------
    SystemExit
        With cocopp's usage error code, if it has one.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--kind", type=Kind, choices=list(Kind), required=True, help="which part")
    parser.add_argument("--full", action="store_true", help="everything, in print quality")
    parser.add_argument("--parent", type=int, required=True, help="the process to end with")
    parser.add_argument("data", type=Path, nargs="+", help="a folder or archive for each algorithm")
    options = parser.parse_args(arguments)
    prepare_worker(options.parent, sys.path)

    with tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as folder:
        scratch = Path(folder)
        cocopp = import_cocopp(scratch)
        _keep_out_of_the_package(Path(str(cocopp.__file__)).parent, scratch)
        how = _set_up(cocopp, options.kind, full=options.full)
        how += ["--no-interactive", "-o", str(options.output)]
        how += [str(_beside_no_other(data, scratch)) for data in options.data]
        with _major_ticks_labelled_alone():
            result = cocopp.main(how)
    if isinstance(result, int):  # its code for wrong usage; otherwise the data
        raise SystemExit(result)


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    main()
