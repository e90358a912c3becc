"""How far a run is, and how long it will take."""

import io

import pytest

from casmore.experiments.progress import BarDisplay, Pace, PlainDisplay, display


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_time_left_is_by_cost_not_by_number() -> None:
    clock = Clock()
    pace = Pace(units=10, done=2, cost=1000, clock=clock)
    assert pace.seconds_left is None
    clock.now += 30.0
    pace.count(cost=750, evaluations=6000, failed=False)  # one large unit of eight
    assert pace.seconds_left == pytest.approx(10.0)
    assert pace.evaluations_per_second == pytest.approx(200.0)
    assert str(pace) == "3/10 units, 200 evaluations/s, 30 s gone, about 10 s left"


def test_failures_are_named_and_not_counted_as_done() -> None:
    pace = Pace(units=2, done=0, cost=20)
    pace.count(cost=10, evaluations=0, failed=True)
    assert "0/2 units, 1 failed" in str(pace)
    assert pace.fraction == 0.5


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s gone"), (65, "1 min 05 s"), (7384, "2 h 03 min")]
)
def test_durations(seconds: float, text: str) -> None:
    clock = Clock()
    pace = Pace(units=1, done=0, cost=1, clock=clock)
    clock.now += seconds
    assert text in str(pace)


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_in_the_end() -> None:
    clock, stream = Clock(), io.StringIO()
    pace = Pace(units=2, done=0, cost=2, clock=clock)
    with display(pace, stream) as shown:
        assert isinstance(shown, PlainDisplay)
        for _ in range(25):  # a second each
            clock.now += 1.0
            shown.update()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert ["10 s gone" in lines[0], "20 s gone" in lines[1], "25 s gone" in lines[2]] == [True] * 3


def test_in_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    pace = Pace(units=2, done=0, cost=2)
    with display(pace, stream) as shown:
        assert isinstance(shown, BarDisplay)
        pace.count(cost=2, evaluations=5, failed=False)
        shown.update()
    assert "1/2 units" in stream.getvalue()
    assert "━" in stream.getvalue()
