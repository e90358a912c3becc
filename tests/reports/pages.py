"""What pages refer to."""

import re
from pathlib import Path


def references(page: Path) -> set[str]:
    """Local files that a page shows or links to.

    Not scripts, which cocopp names but does not need.
    """
    text = re.sub(r"(?i)<script[^>]*>", "", page.read_text(encoding="latin-1"))
    names = set(re.findall(r'(?i)(?:src|href)="([^"#]+)', text))
    return {name for name in names if "://" not in name}
