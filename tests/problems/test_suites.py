"""The descriptions of the suites, beside COCO's own suites and cocopp's groups."""

from pathlib import Path

import cocoex
import numpy as np
import pytest

from casmore.problems.bbob import ObservedProblem, instances_of
from casmore.problems.noise_free import NoiseFree
from casmore.problems.suites import BBOB, BOXED, LARGESCALE, NOISY, SUITES, Suite, find
from casmore.reports.cocopp.offline import import_cocopp

ALL = pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)


@ALL
def test_a_suite_is_cocos(suite: Suite) -> None:
    smallest = suite.dimensions[0]
    coco = cocoex.Suite(suite.name, "instances:1", f"dimensions:{smallest}")
    numbers = []
    for problem in coco:
        numbers.append(problem.id_function)
        problem.free()
    assert numbers == list(suite.functions)
    whole = cocoex.Suite(suite.name, "instances:1", "function_indices:1")
    assert tuple(whole.dimensions) == suite.dimensions
    last = suite.functions[-1]
    options = f"dimensions:{smallest} function_indices:{suite.index(last)}"
    with cocoex.Suite(suite.name, "instances:1", options).get_problem(0) as problem:
        assert problem.id_function == last


class _DataSet:
    def __init__(self, function: int) -> None:
        self.funcId = function


class _DataSets(list[_DataSet]):
    def isBiobjective(self) -> bool:
        return False


@ALL
def test_groups_are_cocopps(suite: Suite) -> None:
    cocopp = import_cocopp()
    cocopp.testbedsettings.load_current_testbed(suite.name, cocopp.pproc.TargetValues)
    theirs: dict[str, set[int]] = {}
    for function in suite.functions:
        data = _DataSets([_DataSet(function)])
        (group,) = cocopp.pproc.DataSetList.getFuncGroups(data)
        theirs.setdefault(group, set()).add(function)
    ours = [set(range(first, last + 1)) for _, first, last in suite.groups]
    assert ours == list(theirs.values())
    assert all(suite.group_of(f) == g.name for g in suite.groups for f in (g.first, g.last))
    assert len(suite.function_names) == len(suite.functions)


def test_names_of_noisy_functions_are_cocopps() -> None:
    folder = Path(str(import_cocopp().__file__)).parent
    theirs = (folder / "bbob-noisy-benchmarkshortinfos.txt").read_text().splitlines()
    noises = {"Gauss": "Gaussian", "unif": "uniform", "Cauchy": "Cauchy"}
    for line in theirs:
        number, function, *moderate, noise = line.replace("diff powers", "powers").split()
        ours = NOISY.title(int(number))
        assert ours.startswith(f"f{number} ")
        assert ours.endswith(noises[noise])
        assert ("moderate" in ours) == ("moderate" in moderate)
        assert function.split("-")[0] in ours or function == "Sum"


def test_a_function_that_is_not_in_the_suite() -> None:
    with pytest.raises(ValueError, match="function 25: bbob has functions 1 to 24"):
        BBOB.group_of(25)
    with pytest.raises(ValueError, match="there is no suite 'noisy'; did you mean 'bbob-noisy'"):
        find("noisy")


def test_instances() -> None:
    assert instances_of(BBOB) == (1, 2, 3, 4, 5, *range(71, 81))
    assert instances_of(BBOB, 2009) == (1, 2, 3, 4, 5) * 3
    assert instances_of(BBOB, 2012) == (1, 2, 3, 4, 5, *range(21, 31))
    assert instances_of(NOISY) == instances_of(NOISY, 2009) == tuple(range(1, 16))
    assert instances_of(LARGESCALE) == instances_of(LARGESCALE, 2026) == tuple(range(1, 16))
    assert instances_of(BOXED) == instances_of(BOXED, 2023) == (1, 2, 3, 4, 5, *range(101, 111))
    with pytest.raises(ValueError, match="year 2008: bbob has instances of 2009 and later"):
        instances_of(BBOB, 2008)
    with pytest.raises(ValueError, match=r"year 2010: bbob-noisy has instances of 2009$"):
        instances_of(NOISY, 2010)


def _noisy(folder: Path, function: int, dimension: int, instance: int) -> ObservedProblem:
    return ObservedProblem(
        *(function, dimension, instance),
        outer_folder=folder,
        algorithm_name="TEST",
        algorithm_info="noise",
        suite=NOISY,
    )


@pytest.mark.parametrize("dimension", [2, 5, 20])
@pytest.mark.parametrize("function", range(101, 131, 3))
def test_values_without_noise_are_those_that_coco_logs(
    function: int, dimension: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(function)
    start = rng.uniform(-4, 4, dimension)
    X = [*rng.uniform(-8, 8, (50, dimension)), start]  # some of them outside the box
    for place in range(3):  # of the three kinds of noise
        plain = NoiseFree(function + place, dimension, 3)
        with _noisy(tmp_path, function + place, dimension, 3) as problem:
            X.extend(start + 0.3 * rng.standard_normal((150, dimension)))
            noisy, values = problem.evaluate(np.array(X))
            for x, value in zip(X, values, strict=True):
                assert problem.value_at(x) == value == plain(x)
        assert noisy != pytest.approx(values, rel=1e-12)
        best = np.minimum.accumulate(values) - plain.optimal_value
        rows = [
            line.split()
            for path in problem.folder.glob("*/*dat")
            for line in path.read_text().splitlines()
            if not line.startswith("%")
        ]
        assert len(rows) > 20
        for row in rows:
            assert float(row[2]) == pytest.approx(best[int(row[0]) - 1], rel=1e-9)


def test_reading_values_without_noise_does_not_change_the_noise(tmp_path: Path) -> None:
    x = np.ones((1, 5))
    values = []
    for asked in (False, True):
        with _noisy(tmp_path, 107, 5, 1) as problem:
            values.append([*problem.evaluate(x)[0]])
            if asked:
                problem.value_at(x[0])
            values[-1].extend(problem.evaluate(x)[0])
    assert values[0] == values[1]


def test_the_noise_of_trials_is_independent(tmp_path: Path) -> None:
    x = np.zeros((1, 5))
    seen: list[float] = []
    for offset in (0, 1, 1000):
        for function in (107, 108):
            with ObservedProblem(
                *(function, 5, 1),
                outer_folder=tmp_path,
                algorithm_name="TEST",
                algorithm_info="noise",
                suite=NOISY,
                noise_offset=offset,
            ) as problem:
                seen.extend(problem.evaluate(x)[0])
    assert len(set(seen)) == 6
