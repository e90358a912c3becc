"""The page on which a run explains itself: how it came about, what it took, what went wrong."""

import html
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from casmore.experiments.store.run_folder import RunFolder
from casmore.reports.unit_table import COLUMNS, UnitRow, totals

# A browser takes minutes over a table of all units of a large comparison; the CSV has them all.
_MOST_ROWS = 5000

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}: the run</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 90em; margin: 2em auto; padding: 0 1em }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse }}
th, td {{ padding: .1em .7em; text-align: left; white-space: nowrap; vertical-align: top }}
th {{ border-bottom: 1px solid #bbb }}
td.number {{ text-align: right }}
pre {{ background: #f5f5f5; padding: .7em; overflow-x: auto }}
</style>
</head>
<body>
<h1>{title}: the run</h1>
<p><a href="index.html">Back to the report</a></p>
{body}
</body>
</html>
"""


def write(page: Path, title: str, run: Path, rows: Sequence[UnitRow]) -> None:
    """Write the page ``page``, beside which ``units.csv`` already is."""
    manifest = _json(RunFolder(run).manifest)
    body = [*_totals(rows), *_failures(rows), *_manifest(manifest, run), *_units(rows)]
    temporary = page.with_name(f".{page.name}.{os.getpid()}")
    temporary.write_text(
        _PAGE.format(title=html.escape(title), body="\n".join(body)), encoding="utf-8"
    )
    temporary.replace(page)


def _totals(rows: Sequence[UnitRow]) -> Iterator[str]:
    yield "<h2>What it took</h2>"
    headings = ["solver", "n", "done", "failed", "evaluations", "restarts", "wall s", "CPU s"]
    yield from _table(
        [*headings, "runs ended by"],
        (
            [
                t.solver,
                t.dimension,
                t.done,
                t.failed,
                f"{t.evaluations:,}",
                t.restarts,
                f"{t.wall_seconds:,.1f}",
                f"{t.cpu_seconds:,.1f}",
                "; ".join(f"{reason} ({count})" for reason, count in t.reasons.items()),
            ]
            for t in totals(rows)
        ),
    )


def _failures(rows: Sequence[UnitRow]) -> Iterator[str]:
    failed = [row for row in rows if row.failed]
    if not failed:
        return
    yield f"<h2>Failures: {len(failed)}</h2>"
    for row in failed:
        error = html.escape(str(row.record.get("error", "")))
        traceback = html.escape(str(row.record.get("traceback", "")))
        yield (
            f"<details><summary><b>{html.escape(str(row.unit))}</b> {error}</summary>"
            f"<pre>{traceback}</pre></details>"
        )


def _manifest(manifest: dict[str, Any], run: Path) -> Iterator[str]:
    sessions = manifest.get("sessions", [])
    yield f"<h2>Sessions: {len(sessions)}</h2>"
    yield from _table(
        ["started", "seconds", "ended", "units", "host", "cores", "workers", "git", "command"],
        (_session(session) for session in sessions),
    )
    if sessions:
        last = sessions[-1]
        yield "<h2>Machine and versions, of the last session</h2>"
        pairs = {**last.get("machine", {}), **last.get("versions", {})}
        yield from _table(["", ""], ([key, value] for key, value in pairs.items()))
    if "seeds" in manifest:
        yield f"<h2>Seeds</h2><p>{html.escape(manifest['seeds'])}</p>"
    config = _json(RunFolder(run).config)
    if config:
        digest = html.escape(str(manifest.get("config_digest", "")))
        yield f"<h2>Config, all defaults resolved</h2><p>digest {digest}</p>"
        yield f"<pre>{html.escape(json.dumps(config, indent=1))}</pre>"


def _session(session: dict[str, Any]) -> list[object]:
    git = session.get("git") or {}
    machine = session.get("machine", {})
    share = session.get("share", "all")
    done = f"{session['published']} of {session['units']}" if "published" in session else ""
    return [
        session.get("started", ""),
        session.get("seconds", ""),
        session.get("ended_by", "complete") if "finished" in session else "killed, or at work",
        done if share == "all" else f"shard {share.replace('-of-', '/')}: {done}",
        machine.get("host", ""),
        machine.get("cores", ""),
        f"{session.get('workers', '')} {session.get('backend', '')}",
        git.get("commit", "")[:12] + (" and changes" if git.get("changed") else ""),
        session.get("command", ""),
    ]


def _units(rows: Sequence[UnitRow]) -> Iterator[str]:
    shown = rows[:_MOST_ROWS]
    yield "<h2>Units</h2>"
    yield '<p>All of them: <a href="units.csv">units.csv</a>'
    yield f"; here the first {len(shown)} of {len(rows)}</p>" if len(rows) > len(shown) else "</p>"
    yield from _table(COLUMNS, (row.cells() for row in shown))


def _table(headings: Iterable[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield '<div class="wide"><table>'
    yield "<tr>" + "".join(f"<th>{html.escape(heading)}</th>" for heading in headings) + "</tr>"
    for row in rows:
        yield "<tr>" + "".join(_td(cell) for cell in row) + "</tr>"
    yield "</table></div>"


def _td(cell: object) -> str:
    text = str(cell)
    number = text.replace(",", "").replace(".", "").replace("-", "").isdigit()
    return f"<td{' class=number' if number else ''}>{html.escape(text)}</td>"


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # data that came without a run
        return {}
    return content if isinstance(content, dict) else {}
