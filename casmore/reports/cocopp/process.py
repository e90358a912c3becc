"""The process that makes cocopp's report, started by ``cocopp.report``.

It is a separate process because cocopp keeps its options in global variables and never resets them.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from casmore.experiments.limits import prepare_worker
from casmore.reports.cocopp.offline import import_cocopp


def _keep_out_of_the_package(cocopp_folder: Path, scratch: Path) -> None:
    """Let cocopp unpack its reference data in ``scratch``.

    By default it unpacks them beside the archive, in its installed folder, which may be read-only
    or in use by another report.
    """
    from cocopp.testbedsettings import GECCOBBOBNoisyTestbed, GECCOBBOBTestbed

    # other suites have no reference data
    for testbed in (GECCOBBOBTestbed, GECCOBBOBNoisyTestbed):
        settings = testbed.settings
        archive = cocopp_folder / settings["reference_algorithm_filename"]
        # cocopp joins this with its own folder, which an absolute path overrides
        settings["reference_algorithm_filename"] = str(shutil.copy2(archive, scratch))


def _label_major_ticks_only() -> None:
    """Keep Matplotlib from labeling the minor ticks of log axes.

    It labels them on axes as short as 2 to 40-D, where they cover cocopp's own labels.
    """
    from matplotlib.axis import Axis
    from matplotlib.scale import LogScale
    from matplotlib.ticker import NullFormatter

    name = "set_default_locators_and_formatters"
    original = getattr(LogScale, name)

    def without_minor_labels(scale: LogScale, axis: Axis) -> None:
        original(scale, axis)
        axis.set_minor_formatter(NullFormatter())

    setattr(LogScale, name, without_minor_labels)


def _number_folders(cocopp: ModuleType) -> None:
    """Let cocopp number its folders; it names them after their data and the second of the time.

    On fast machines it puts the pages of several algorithms into one folder otherwise.
    """
    original = cocopp.findfiles.get_output_directory_sub_folder
    numbers = count()

    def numbered(*arguments: Any, **options: Any) -> str:
        return f"{original(*arguments, **options)}{next(numbers):03d}"

    cocopp.findfiles.get_output_directory_sub_folder = numbered


def _link_archive(data: Path, scratch: Path) -> Path:
    """Return a folder as it is, and a link in ``scratch`` to an archive.

    cocopp unpacks an archive beside the path it is given.
    """
    if data.is_dir():
        return data
    link = Path(tempfile.mkdtemp(dir=scratch), data.name)
    link.symlink_to(data)
    return link


def _set_up(cocopp: ModuleType, *, full: bool) -> list[str]:
    """Set what cocopp has no options for; return the options."""
    settings: Any = cocopp.genericsettings
    # With an empty background cocopp writes the comparison pages for a single algorithm, too.
    # Without them there would be no ECDF over all functions at all.
    settings.background = {None: []}
    if full:
        return ["--in-a-hurry=0", "--include-fonts", "--include-single"]
    # The pages show SVG; PDF beside it doubles the time ("--no-svg" has no effect any more).
    # A page for each function in each dimension would take as long again.
    settings.figure_file_formats = ["svg"]
    return ["--no-rld-single-fcts"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make cocopp's report of the given data.

    Raises
    ------
    SystemExit
        With cocopp's exit code for wrong usage, if it returns one.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--full", action="store_true", help="everything, in print quality")
    parser.add_argument("--parent", type=int, required=True, help="the process to end with")
    parser.add_argument("data", type=Path, nargs="+", help="a folder or archive for each algorithm")
    options = parser.parse_args(arguments)
    prepare_worker(options.parent, sys.path)

    with tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as folder:
        scratch = Path(folder)
        cocopp = import_cocopp(scratch)
        _keep_out_of_the_package(Path(str(cocopp.__file__)).parent, scratch)
        _label_major_ticks_only()
        _number_folders(cocopp)
        how = [*_set_up(cocopp, full=options.full), "--no-interactive", "-o", str(options.output)]
        result = cocopp.main([*how, *(str(_link_archive(data, scratch)) for data in options.data)])
    if isinstance(result, int):  # its code for wrong usage; otherwise the data
        raise SystemExit(result)


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    main()
