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


def test_each_dimension_has_its_own_mean() -> None:
    clock = Clock()
    pace = Pace(10, [(40, 800.0), (40, 800.0), (10, 100.0), (5, 50.0), (5, 50.0)], clock=clock)
    assert pace.seconds_left is None
    assert str(pace).endswith("time left not known yet")
    clock.now += 30.0
    pace.count(40, seconds=30.0, evaluations=6000, failed=False)
    # nothing is known of 10-D and 5-D but their cost beside that of 40-D
    assert pace.seconds_left == pytest.approx(30.0 + 30.0 * 200 / 800)
    clock.now += 34.0
    pace.count(40, seconds=34.0, evaluations=6000, failed=False)
    clock.now += 6.0
    pace.count(10, seconds=6.0, evaluations=2000, failed=False)
    assert pace.seconds_left == pytest.approx(2 * 6.0 * 50 / 100)
    assert pace.fraction == pytest.approx(70 / 76)
    assert str(pace) == "8/10 units, 200 evaluations/s, 1 min 10 s gone, about 6 s left"


def test_workers_share_what_is_left() -> None:
    clock = Clock()
    pace = Pace(5, [(2, 1.0)] * 5, workers=2, clock=clock)
    clock.now += 4.0
    pace.count(2, seconds=4.0, evaluations=1, failed=False)
    assert pace.seconds_left == pytest.approx(4 * 4.0 / 2)


def test_failures_are_named_and_not_counted_as_done() -> None:
    pace = Pace(2, [(2, 1.0), (2, 1.0)])
    pace.count(2, seconds=1.0, evaluations=0, failed=True)
    assert "0/2 units, 1 failed" in str(pace)


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s gone"), (65, "1 min 05 s"), (7384, "2 h 03 min")]
)
def test_durations(seconds: float, text: str) -> None:
    clock = Clock()
    pace = Pace(1, [(2, 1.0)], clock=clock)
    clock.now += seconds
    assert text in str(pace)


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_in_the_end() -> None:
    clock, stream = Clock(), io.StringIO()
    pace = Pace(2, [(2, 1.0)] * 2, clock=clock)
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
    pace = Pace(2, [(2, 1.0)] * 2)
    with display(pace, stream) as shown:
        assert isinstance(shown, BarDisplay)
        pace.count(2, seconds=1.0, evaluations=5, failed=False)
        shown.update()
    assert "1/2 units" in stream.getvalue()
    assert "━" in stream.getvalue()
