"""What pages refer to."""

import re
from pathlib import Path


def references(page: Path) -> set[str]:
    """Files that a page shows or links to; scripts apart, which cocopp names but does not need."""
    text = re.sub(r"(?i)<script[^>]*>", "", page.read_text(encoding="latin-1"))
    return set(re.findall(r'(?i)(?:src|href)="([^"#]+)', text))
