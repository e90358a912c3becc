"""Check a built documentation site: each link leads somewhere, and nothing comes from a network."""

import argparse
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# attributes by which a page loads a file; of <link>, only with some values of rel
_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"}
_IN_CSS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


class _Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and "href" in found:
            loaded = _LOADED_LINKS & set(found.get("rel", "").split())
            (self.loaded if loaded else self.links).append(found["href"])
        elif tag in _LOADS and _LOADS[tag] in found:
            self.loaded.append(found[_LOADS[tag]])
        for candidate in found.get("srcset", "").split(","):
            self.loaded.extend(candidate.split()[:1])


def problems(site: Path) -> Iterator[str]:
    """Yield a description of each broken link, and of each file that is not part of the site.

    Parameters
    ----------
    site
        The folder with the site's HTML files.
    """
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in files}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for url in page.loaded:
            if _is_external(url):
                yield f"{name} loads {url} from the network"
        for url in (*page.links, *page.loaded):
            if not _is_external(url) and not _leads_somewhere(url, path, pages):
                yield f"{name} points at {url}, which does not exist"
    for path in sorted(site.rglob("*.css")):
        for url in _IN_CSS.findall(path.read_text(encoding="utf-8")):
            if urlsplit(url).scheme in ("http", "https") or url.startswith("//"):
                yield f"{path.relative_to(site)} loads {url} from the network"


def _is_external(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme not in ("", "file", "data")


def _leads_somewhere(url: str, page: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "data":
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    anchor = unquote(parts.fragment)
    return target.is_file() and (
        not anchor or target not in pages or anchor in pages[target].anchors
    )


def main() -> int:
    """Print the problems of a site; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder with the site's HTML files")
    site = parser.parse_args().site
    if not (site / "index.html").is_file():
        sys.exit(f"check_site: {site} has no index.html; build the site with `make docs`")
    found = list(problems(site))
    for line in found:
        print(line, file=sys.stderr)
    print(f"{site}: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
