"""The documentation site: its pages, the check of its links, and its examples.

`make docs` builds it, which also runs the examples and fails on a broken link.
"""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from clones import ROOT

import casmore
from casmore.problems import episodic

DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def _listed(page: Path) -> set[Path]:
    """Return the pages, without suffix, in the tables of contents of a page."""
    text = page.read_text()
    trees = re.findall(r"^:::\{toctree\}\n(.*?)^:::", text, flags=re.DOTALL | re.MULTILINE)
    trees += re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)*)", text, flags=re.MULTILINE)
    entries = [
        re.sub(r".*<(.*)>", r"\1", line.strip())
        for tree in trees
        for line in tree.splitlines()
        if line.strip() and not line.strip().startswith(":")
    ]
    return {(page.parent / entry).resolve() for entry in entries}


def test_every_page_can_be_reached_from_the_first_one() -> None:
    generated = {DOCS / name for name in ("_build", "_templates", "examples", "api/generated")}
    pages = {
        path.with_suffix(""): path
        for path in (*DOCS.rglob("*.md"), *DOCS.rglob("*.rst"))
        if not generated & {*path.parents}
    }
    assert len(pages) > 20
    reached, new = set[Path](), {DOCS / "index"}
    while new:
        reached |= new
        new = {entry for page in new for entry in _listed(pages[page])} & {*pages} - reached
    left_out = {path.name for page, path in pages.items() if page not in reached}
    assert not left_out, "to be added to a toctree, for example that of docs/guide/index.md"


def test_the_api_reference_has_every_public_name() -> None:
    reference = {
        path.stem: set(re.findall(r"^   (\w+)$", path.read_text(), re.MULTILINE))
        for path in (DOCS / "api").glob("*.rst")
    }
    assert set(casmore.__all__) <= reference["minimize"]
    assert set(episodic.__all__) - {"TASKS"} <= reference["problems"]


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="missing.html">x</a>', "missing.html, which does not exist"),
        ('<a href="b/page.html#missing">x</a>', "b/page.html#missing, which does not exist"),
        ('<a href="#missing">x</a>', "#missing, which does not exist"),
        ('<img src="missing.png">', "missing.png, which does not exist"),
        ('<img src="a.png" srcset="a.png, b.png 2x">', "b.png, which does not exist"),
        ('<script src="https://cdn.example/a.js"></script>', "from the network"),
        ('<link rel="stylesheet" href="//cdn.example/a.css">', "from the network"),
        ('<a href="b/page.html#there">x</a><a href="b/">x</a>', None),
        ('<a href="https://example.org">x</a><img src="a.png"><a href="#top">x</a>', None),
    ],
)
def test_the_check_of_a_site_finds_what_is_broken(
    body: str, problem: str | None, tmp_path: Path
) -> None:
    check = runpy.run_path(str(ROOT / "scripts/check_site.py"))
    _write(
        tmp_path,
        {
            "index.html": f'<h1 id="top">x</h1>{body}',
            "b/page.html": '<p id="there">x</p>',
            "b/index.html": '<a href="../index.html">x</a>',
            "a.png": "",
            "_static/fine.css": "a { background: url(image.png) }",
        },
    )
    found = list(check["problems"](tmp_path))
    assert len(found) == (problem is not None)
    assert all(line.startswith("index.html ") and str(problem) in line for line in found)


def test_the_check_of_a_site_looks_into_its_styles(tmp_path: Path) -> None:
    check = runpy.run_path(str(ROOT / "scripts/check_site.py"))
    style = '@import "https://a.example/x.css"; p { background: url(//b.example/y.png) }'
    _write(tmp_path, {"index.html": "", "_static/site.css": style})
    found = list(check["problems"](tmp_path))
    assert [line.partition(" from")[0] for line in found] == [
        "_static/site.css loads https://a.example/x.css",
        "_static/site.css loads //b.example/y.png",
    ]


def test_there_are_ten_examples_and_they_say_what_they_need() -> None:
    assert [path.name[:2] for path in EXAMPLES] == [f"{i:02d}" for i in range(1, 11)]
    for path in EXAMPLES[3:]:  # the first ones need the library and Matplotlib
        assert re.search(r"needs\s.*``casmore\[", path.read_text(), re.DOTALL), path


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_by_itself(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
