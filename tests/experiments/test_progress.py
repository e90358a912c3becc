"""How far a session is, and how it is shown."""

import io

import pytest
from harness import config

from casmore.experiments.plan import make_plan
from casmore.experiments.progress import BarDisplay, PlainDisplay, SessionProgress, display

PLAN = make_plan(config())  # six units in 2-D, then six in 3-D


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_done_and_what_is_left_in_a_line() -> None:
    clock = Clock()
    progress = SessionProgress(PLAN, PLAN[4:6], clock=clock)
    assert str(progress) == "10/12 units, time left unknown, 0 s elapsed, 0 evaluations/s"
    assert progress.fraction == 0.0
    clock.now += 70.0
    progress.count(PLAN[4].unit, seconds=35.0, evaluations=14000, failed=False)
    assert str(progress) == "11/12 units, about 35 s left, 1 min 10 s elapsed, 200 evaluations/s"
    assert progress.fraction == pytest.approx(70 / 105)
    progress.count(PLAN[5].unit, seconds=35.0, evaluations=0, failed=True)
    assert str(progress).startswith("11/12 units, 1 failed")
    assert progress.seconds_left == 0
    assert progress.fraction == 1


def test_workers_share_what_is_left() -> None:
    progress = SessionProgress(PLAN, PLAN[:6], workers=2)
    progress.count(PLAN[0].unit, seconds=4.0, evaluations=1, failed=False)
    assert progress.seconds_left == pytest.approx(5 * 4.0 / 2)


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s elapsed"), (65, "1 min 05 s"), (7384, "2 h 03 min")]
)
def test_durations(seconds: float, text: str) -> None:
    clock = Clock()
    progress = SessionProgress(PLAN, PLAN, clock=clock)
    clock.now += seconds
    assert text in str(progress)


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_at_the_end() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = SessionProgress(PLAN, PLAN, clock=clock)
    with display(progress, stream) as shown:
        assert isinstance(shown, PlainDisplay)
        for _ in range(25):  # a second each
            clock.now += 1.0
            shown.update()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert ["10 s elapsed" in lines[0], "20 s elapsed" in lines[1], "25 s elapsed" in lines[2]] == [
        True
    ] * 3


def test_in_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    progress = SessionProgress(PLAN, PLAN)
    with display(progress, stream) as shown:
        assert isinstance(shown, BarDisplay)
        progress.count(PLAN[0].unit, seconds=1.0, evaluations=5, failed=False)
        shown.update()
    assert "1/12 units" in stream.getvalue()
    assert "━" in stream.getvalue()
