"""The report's first page: the comparison, our ECDFs, and the way to everything else."""

import html
import os
from collections.abc import Sequence
from pathlib import Path

from casmore.reports.cocopp.parts import COMPARISON
from casmore.reports.summary import HEADINGS, Line, caption, cells

# cocopp's pages of a comparison, and what is on them; not every report has all of them
_COCOPP_PAGES = {
    "pprldmany.html": "ECDFs of runtimes: over all functions and for each group, in each dimension",
    "pprldflex.html": "the same ECDFs, to be browsed with the arrow keys",
    "ppfigs.html": "ERT scaling with the dimension, for each function",
    "pptables.html": "tables of ERT, for each function in each dimension",
    "ppscatter.html": "scatter plots of ERT, one solver against the other",
    "pprldistr2.html": "ECDFs for single targets, and of ERT ratios",
}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em }}
img {{ max-width: 100% }}
table {{ border-collapse: collapse }}
th, td {{ padding: .15em .8em; text-align: right }}
td {{ white-space: nowrap }}
th:nth-child(2), td:nth-child(2) {{ text-align: left }}
th, tr.first td {{ border-top: 1px solid #bbb }}
</style>
</head>
<body>
<h1>{title}</h1>
<table>
{rows}
</table>
<p>{caption}. All numbers: <a href="summary.csv">summary.csv</a></p>
<p><a href="run.html">The run</a>: {run}</p>
<h2>ECDFs of runtimes, to the budget</h2>
{figures}
<h2>cocopp</h2>
<ul>
{links}
</ul>
</body>
</html>
"""


def write(
    page: Path, title: str, lines: Sequence[Line], figures: Sequence[Path], *, failed: int = 0
) -> None:
    """Write the page ``page``, beside which everything it links to already is.

    ``failed`` units are missing in all that is shown, which the page says.
    """
    run = "config, versions, machine, sessions, all units and how they ended"
    if failed:
        run = f"<b>{failed} units failed</b>; their tracebacks, {run}"
    folder = page.parent
    rows = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in HEADINGS) + "</tr>"]
    for before, line in zip([None, *lines], lines, strict=False):
        first = before is None or before.dimension != line.dimension
        text = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(line))
        rows.append(f'<tr class="{"first" if first else ""}">{text}</tr>')
    pictures = [
        f'<p><a href="{name}.pdf"><img src="{name}.png" alt="ECDFs of runtimes"></a></p>'
        for name in (html.escape(_link(folder, figure.with_suffix(""))) for figure in figures)
    ]
    temporary = page.with_name(f".{page.name}.{os.getpid()}")
    temporary.write_text(
        _PAGE.format(
            title=html.escape(title),
            rows="\n".join(rows),
            caption=html.escape(caption(lines[0].solver)),
            run=run,
            figures="\n".join(pictures),
            links="\n".join(_cocopp_links(folder)),
        ),
        encoding="utf-8",
    )
    temporary.replace(page)


def _cocopp_links(folder: Path) -> list[str]:
    comparison = folder / "cocopp" / COMPARISON
    targets = [
        (comparison / name, text)
        for name, text in _COCOPP_PAGES.items()
        if (comparison / name).exists()
    ]
    targets += [
        (single / "index1.html", f"{single.name.removeprefix('single-')} alone")
        for single in sorted((folder / "cocopp").glob("single-*"))
    ]
    targets.append((folder / "cocopp.log", "cocopp's log"))
    return [
        f'<li><a href="{html.escape(_link(folder, path))}">{html.escape(text)}</a></li>'
        for path, text in targets
    ]


def _link(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
