"""The page that documents a run: its history, its cost, and its failures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from casmore.experiments import kernels
from casmore.reports import pages, run_data
from casmore.reports.unit_table import COLUMNS, Total, UnitRow, totals

# A browser takes minutes over a table of all units of a large comparison; the CSV has them all.
_MOST_ROWS = 5000
_SECONDS = ("wall_seconds", "cpu_seconds")

_TOTALS = (
    "solver",
    "n",
    "done",
    "failed",
    "evaluations",
    "restarts",
    "wall s",
    "CPU s",
    "runs ended by",
)
_SESSIONS = (
    "started",
    "seconds",
    "ended",
    "units",
    "host",
    "cores",
    "workers",
    "git",
    "command",
)
# narrower than units.csv: a browser's window must have room for all of them
_UNITS = (
    "solver",
    "f",
    "n",
    "instance",
    "state",
    "evaluations",
    "budget",
    "target hit",
    "best value",
    "restarts",
    "runs ended by",
    "wall s",
    "CPU s",
    "warnings, error",
)


def write(page: Path, title: str, run: Path, rows: Sequence[UnitRow]) -> None:
    """Write the page ``page``, beside which ``units.csv`` already is."""
    manifest, config = run_data.manifest(run), run_data.config(run)
    sessions = manifest.get("sessions", [])
    last = sessions[-1] if sessions else {}
    pages.write(
        page,
        "run.html",
        title=title,
        total_headings=_TOTALS,
        totals=[_total(total) for total in totals(rows)],
        failures=[row for row in rows if row.failed],
        session_headings=_SESSIONS,
        sessions=[_session(session) for session in sessions],
        machine={
            **last.get("machine", {}),
            "kernels": "; ".join(kernels.described(found) for found in last.get("kernels", [])),
            **last.get("versions", {}),
        }
        if last
        else {},
        notes=[note for session in sessions for note in session.get("notes", [])],
        seeds=manifest.get("seeds", ""),
        digest=manifest.get("config_digest", ""),
        config=json.dumps(config, indent=1) if config else "",
        unit_headings=_UNITS,
        units=[_unit(row) for row in rows[:_MOST_ROWS]],
        number_of_units=len(rows),
    )


def _total(total: Total) -> list[object]:
    return [
        total.solver,
        total.dimension,
        total.done,
        total.failed,
        f"{total.evaluations:,}",
        total.restarts,
        f"{total.wall_seconds:,.1f}",
        f"{total.cpu_seconds:,.1f}",
        "; ".join(f"{reason} ({count})" for reason, count in total.reasons.items()),
    ]


def _unit(row: UnitRow) -> list[object]:
    cell = dict(zip(COLUMNS, row.cells(), strict=True))
    repeat = f", repeat {row.unit.repeat}" if row.unit.repeat else ""
    hit = {"True": "yes", "False": "no"}.get(cell["final_target_hit"], "")
    return [
        *(cell["solver"], cell["function"], cell["dimension"], cell["instance"] + repeat),
        *(cell["state"], cell["evaluations"], cell["budget"], hit),
        f"{float(cell['best_value']):.6g}" if cell["best_value"] else "",
        *(cell["restarts"], cell["stop_reasons"]),
        *(f"{float(cell[name]):.3f}" if cell[name] else "" for name in _SECONDS),
        "; ".join(filter(None, (cell["warnings"], cell["error"]))),
    ]


def _session(session: dict[str, Any]) -> list[object]:
    git = session.get("git") or {}
    machine = session.get("machine", {})
    share = session.get("share", "all")
    done = f"{session['published']} of {session['units']}" if "published" in session else ""
    return [
        session.get("started", ""),
        session.get("seconds", ""),
        session.get("ended_by", "complete")
        if "finished" in session
        else "killed, or still running",
        done if share == "all" else f"shard {share.replace('-of-', '/')}: {done}",
        machine.get("host", ""),
        machine.get("cores", ""),
        f"{session.get('workers', '')} {session.get('backend', '')}",
        git.get("commit", "")[:12] + (" and changes" if git.get("changed") else ""),
        session.get("command", ""),
    ]
