"""Sets of whole numbers as written in a config: "1-24", "1,3,8-10", [1, 3]."""

import re
from collections import Counter

_RANGE = re.compile(r"([0-9]{1,99})(?:\s*-\s*([0-9]{1,99}))?")
LARGEST = 100_000  # more than any suite has functions or instances; COCO's numbers end at 2^31
_EXAMPLE = "write a range '1-24', a list '1,3,8-10' or [1, 3, 8]"


def parse_range(value: object, *, repeats: bool = False) -> tuple[int, ...]:
    """Return the numbers that ``value`` stands for, sorted.

    Parameters
    ----------
    value
        A range string, a whole number, or a list of whole numbers.
    repeats
        Whether a number may be given twice; the order is then kept.

    Raises
    ------
    ValueError
        If there are none, one is given twice, or ``value`` can't be read.
    """
    if isinstance(value, str):
        numbers = [n for part in value.split(",") for n in _parse_part(part.strip())]
    elif isinstance(value, list | tuple):
        numbers = [_whole_number(n) for n in value]
    else:
        numbers = [_whole_number(value)]
    if not numbers:
        raise ValueError(f"give at least one number; {_EXAMPLE}")
    if repeats and len(set(numbers)) < len(numbers):
        return tuple(numbers)
    twice = [n for n, count in Counter(numbers).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]} is given twice; give each once")
    return tuple(sorted(numbers))


def _parse_part(part: str) -> range:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is neither a number nor a range; {_EXAMPLE}")
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1:
        raise ValueError(f"{part!r}: numbers start at 1")
    if max(first, last) > LARGEST:
        raise ValueError(f"{part!r}: numbers end at {LARGEST}")
    if last < first:
        raise ValueError(f"{part!r} is a reversed range; write '{last}-{first}'")
    return range(first, last + 1)


def _whole_number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number; {_EXAMPLE}")
    if value < 1:
        raise ValueError(f"{value}: numbers start at 1")
    if value > LARGEST:
        raise ValueError(f"numbers end at {LARGEST}")
    return value
