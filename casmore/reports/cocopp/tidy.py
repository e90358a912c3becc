"""Remove references to missing files from cocopp's pages.

Some pages name pictures for 5 and 20-D whatever the data, and the page for browsing names those
that a quick report leaves out; a reader would see broken pictures.
"""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

_PICTURE = re.compile(rb'<a href="[^"]+"><IMG SRC="([^"]+)"[^>]*></a>|<IMG SRC="([^"]+)"[^>]*>')
_LINK = re.compile(rb'(?:&nbsp;)*<a href="([^"#:]+)(?:#[^"]*)?">[^<]*</a>(?:<br>)?')
# a heading over nothing, once its pictures are gone
_EMPTY = re.compile(rb"<p><b>[^<]*</b></p>\s*<div>\s*</div>\s*")
_BROWSER = "pprldflex"


def tidy(report: Path) -> None:
    """Remove references to missing files from all pages below the folder ``report``."""
    for page in report.glob(f"*/{_BROWSER}.html"):
        _tidy_browser(page.with_name(f"{_BROWSER}-config.js"))
    for page in report.rglob("*.html"):
        text = page.read_bytes()
        for pattern in (_PICTURE, _LINK):
            text = pattern.sub(partial(_if_there, page.parent), text)
        page.write_bytes(_EMPTY.sub(b"", text))


def _if_there(folder: Path, match: re.Match[bytes]) -> bytes:
    name = next(group for group in match.groups() if group is not None)
    return match[0] if (folder / name.decode("latin-1")).exists() else b""


def _tidy_browser(config: Path) -> None:
    """Let cocopp's page for browsing ECDFs offer only what exists, or remove it.

    For bbob-noisy cocopp does not write the page's config.
    """
    if not config.exists() or not _offer_what_exists(config):
        for file in config.parent.glob(f"{_BROWSER}*"):
            file.unlink()


def _offer_what_exists(config: Path) -> bool:
    """Remove what is missing from the page's config; return whether anything is left."""
    text = config.read_text(encoding="utf-8")
    start, end = text.index("{"), text.rindex("}") + 1
    content: dict[str, Any] = json.loads(text[start:end])
    made = {
        (entry["filename"], dimension)
        for entry in content["functions"]
        for dimension in content["dimensions"]
        # the page's placeholder: the dimension, with leading zeros to two digits
        if (config.parent / entry["filename"].replace("<0,2>", f"{dimension:02d}")).exists()
    }
    content["functions"] = [
        entry for entry in content["functions"] if entry["filename"] in {name for name, _ in made}
    ]
    content["dimensions"] = sorted({dimension for _, dimension in made})
    config.write_text(text[:start] + json.dumps(content, indent=1) + text[end:], "utf-8")
    return bool(made)
