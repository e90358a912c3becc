"""Stands in for ``casmore.reports.cocopp.process``: writes the least that a part has, at once.

A file ``slow`` in the first algorithm's data makes it wait, a file ``broken`` fail.
"""

import argparse
import os
import sys
import time
import uuid
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path)
    parser.add_argument("--kind")
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
    part = options.output / f"{data.name}_112805h1127"
    part.mkdir(parents=True)
    page = "index1.html" if options.kind == "single" else "index.html"
    (part / page).write_text("<!--links-->\n")
    (part / f"{options.kind}.txt").write_text(uuid.uuid4().hex)
    (options.output / "index.html").write_text(f"<H1>Results</H1>\n<H2>{part.name}</H2>\n")
    commands = options.output / "cocopp_commands.tex"
    commands.write_text(f"\\providecommand{{\\folder}}{{{part.name}/}}\n")


if __name__ == "__main__":
    main()
