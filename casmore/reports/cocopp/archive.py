"""Data of other algorithms from an online archive of COCO, by name.

cocopp runs in a separate process, as for reports, because it keeps the state of archives in global
variables. Downloaded data are kept in the user's cache and are not fetched again.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import platformdirs

from casmore.experiments.limits import ENVIRONMENT
from casmore.problems.suites import BBOB, Suite
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.report_error import ReportError

_SECONDS = 10.0  # to wait for an answer; cocopp itself has no timeout
_ANSWER = "casmore-answer: "


def fetch(
    names: Sequence[str], url: str | None = None, cache: Path | None = None, *, suite: Suite = BBOB
) -> list[Path]:
    """Return the data of archive entries; fetch those that are not in the cache.

    Parameters
    ----------
    names
        For each entry its name, or a part of it that no other entry has: ``"BIPOP-CMA-ES_hansen"``.
    url
        The archive; default: COCO's own for the suite.
    cache
        Where data are kept; default: the user's cache.
    suite
        The suite of the data.

    Raises
    ------
    ReportError
        If there is no network, no such archive, or not exactly one entry of a name.
    """
    if not names:
        return []
    command = [sys.executable, "-m", __name__, "--cache", str(cache or _user_cache())]
    command += ["--url", url] if url else ["--suite", suite.name]
    done = subprocess.run(
        [*command, "--", *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **ENVIRONMENT},
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith(_ANSWER)]
    if not answers:
        raise ReportError(f"the archive could not be read:\n{done.stderr.strip()[-2000:]}")
    answer = json.loads(answers[-1].removeprefix(_ANSWER))
    if "error" in answer:
        raise ReportError(answer["error"])
    return [Path(path) for path in answer["paths"]]


def _user_cache() -> Path:
    return Path(platformdirs.user_cache_dir("casmore"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch entries, and print where they are, or what is wrong, as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--url")
    parser.add_argument("--suite")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args(arguments)
    options.cache.mkdir(parents=True, exist_ok=True)
    retrieve = urllib.request.urlretrieve
    cocopp = import_cocopp(options.cache)
    archiving = cocopp.archiving
    archiving._urlretrieve = retrieve  # which was kept from it while it was imported
    socket.setdefaulttimeout(_SECONDS)
    urls = (
        [options.url]
        if options.url
        else [f"{url}/{options.suite}" for url in archiving.coco_urls[::-1]]
    )
    print(_ANSWER + json.dumps(_answer(archiving, urls, options.names)))


def _answer(archiving: Any, urls: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    try:
        archive = _open(archiving, urls)
        return {"paths": [archive.get(name) for name in names]}
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        return {
            "error": f"--compare {', '.join(names)}: there is no such file or folder, and COCO's "
            f"archive can't be reached ({reason}), tried {', '.join(urls)}; "
            "without a network, compare with folders of COCO data, or with nothing"
        }
    except ValueError as error:  # none of that name, or several
        return {"error": f"{error}"}


def _open(archiving: Any, urls: Sequence[str]) -> Any:
    """Open the first archive that answers."""
    for url in urls:
        try:
            return archiving.get(url)
        except (urllib.error.URLError, OSError) as error:
            failed = error
    raise failed


if __name__ == "__main__":
    main()
