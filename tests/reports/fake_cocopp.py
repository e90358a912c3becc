"""Stands in for ``casmore.reports.cocopp.process``: writes the least that a report has, at once.

A file ``slow`` in the first algorithm's data makes it wait, a file ``broken`` fail, and a file
``lost`` lets the real cocopp lose a figure.
"""

import argparse
import os
import sys
import time
import uuid
from pathlib import Path

from casmore.reports.cocopp.offline import import_cocopp


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path)
    parser.add_argument("--parent")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("data", type=Path, nargs="+")
    options = parser.parse_args()
    data = options.data[0]
    if (data / "slow").exists():
        (data / f"pid.{os.getpid()}").touch()
        time.sleep(60)
    if (data / "broken").exists():
        sys.exit(f"{data.name} is broken")
    if (data / "lost").exists():
        ppfig = import_cocopp().ppfig
        ppfig.save_figure(str(options.output / "no_such_folder" / "ecdf"), format="svg")
    pages = {"one_two_112805h1127": "index.html"}
    if options.full:
        pages |= {f"{d.name}_112805h11{i:02d}": "index1.html" for i, d in enumerate(options.data)}
    for folder, page in pages.items():
        (options.output / folder).mkdir(parents=True)
        (options.output / folder / page).write_text("<H1>Results</H1>")
    links = [f'<a href="{folder}/{page}">{folder}</a><br>' for folder, page in pages.items()]
    (options.output / "index.html").write_text("\n".join(links))
    commands = [f"\\providecommand{{\\folder}}{{{folder}/}}" for folder in pages]
    (options.output / "cocopp_commands.tex").write_text("\n".join(commands))
    (options.output / "made.txt").write_text(uuid.uuid4().hex)


if __name__ == "__main__":
    main()
