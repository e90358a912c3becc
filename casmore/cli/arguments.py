"""Types of arguments that several commands have."""

import argparse
from pathlib import Path


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def folder(text: str) -> Path:
    """Read the path of a folder, which need not exist."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a folder; '.' is this one")
    return Path(text)
