"""casmore.minimize_method follows the conventions of SciPy's own methods."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.optimize import Bounds, OptimizeResult, OptimizeWarning, minimize

import casmore

Array = NDArray[np.float64]
OPTIONS = {"sigma0": 0.5, "seed": 1}


class MethodOfStubs(Protocol):
    """What SciPy's type stubs (scipy-stubs 1.17) want a method to be; checked by mypy."""

    def __call__(
        self, fun: Callable[..., float], x0: Array | list[float], /, args: tuple[object, ...]
    ) -> OptimizeResult: ...


METHODS: list[MethodOfStubs] = [
    casmore.minimize_method,
    partial(casmore.minimize_method, sigma0=0.5, seed=1),  # the stubs know SciPy's options alone
]


def sphere(x: Array, shift: float = 1.0) -> float:
    return float(((x - shift) ** 2).sum())


def run(**arguments: Any) -> OptimizeResult:
    call = {"x0": np.zeros(3), "options": OPTIONS, **arguments}
    return minimize(sphere, method=casmore.minimize_method, **call)


@pytest.mark.parametrize("method", METHODS)
def test_it_finds_the_minimum(method: Any) -> None:
    result = minimize(sphere, np.zeros(3), args=(2.0,), method=method)
    assert result.success
    assert result.status == 0
    assert result.x == pytest.approx([2, 2, 2], abs=1e-5)


@pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 11),
    reason="before SciPy 1.11 its methods call one kind of callback",
)
def test_both_kinds_of_callback_are_called_as_nelder_mead_calls_them() -> None:
    def new(seen: list[Any]) -> Callable[..., None]:
        def callback(*, intermediate_result: OptimizeResult) -> None:
            seen.append((intermediate_result.x.shape, float(intermediate_result.fun)))
            if len(seen) == 3:
                raise StopIteration

        return callback

    def old(seen: list[Any]) -> Callable[..., None]:
        def callback(xk: Array) -> None:
            seen.append((xk.shape, sphere(xk)))
            if len(seen) == 3:
                raise StopIteration

        return callback

    for make in (new, old):
        ours: list[Any] = []
        theirs: list[Any] = []
        run(callback=make(ours))
        minimize(sphere, np.zeros(3), method="Nelder-Mead", callback=make(theirs))
        assert len(ours) == len(theirs) == 3
        assert [shape for shape, _ in ours] == [shape for shape, _ in theirs]
        assert all(value >= 0 for _, value in ours)


@pytest.mark.parametrize(
    "bounds",
    [
        None,
        Bounds(-np.inf, np.inf),
        Bounds([-np.inf] * 3, [np.inf] * 3),
        [(None, None)] * 3,
        [(-np.inf, np.inf)] * 3,
        np.array([[-np.inf, np.inf]] * 3),
    ],
    ids=repr,
)
def test_bounds_that_do_not_bind_change_nothing(bounds: Any) -> None:
    assert (run(bounds=bounds).x == run().x).all()


@pytest.mark.parametrize(
    "bounds", [Bounds(-1, 0.5), [(-1, 0.5)] * 3, np.array([[-1, 0.5]] * 3)], ids=repr
)
def test_real_bounds_are_kept(bounds: Any) -> None:
    result = run(bounds=bounds)
    assert result.x == pytest.approx([0.5] * 3, abs=1e-6)


def test_the_default_step_size_suits_the_bounds() -> None:
    result = run(bounds=[(-1e-3, 1e-3), (-5, 5), (None, 0)], options={"seed": 1})
    assert result.x == pytest.approx([1e-3, 1, 0], abs=1e-5)


@pytest.mark.parametrize("none", [(), [], None])
def test_no_constraints_come_in_many_forms(none: Any) -> None:
    assert run(constraints=none).success


def test_constraints_are_refused() -> None:
    with pytest.raises(ValueError, match="no other constraints"):
        run(constraints={"type": "ineq", "fun": lambda x: x[0]})


def test_tol_ends_the_run_earlier() -> None:
    assert run(tol=1e-2).nfev < run(tol=1e-6).nfev < run().nfev


def test_limits() -> None:
    assert run(options={**OPTIONS, "maxfev": 40}).nfev == 40
    assert run(options={**OPTIONS, "budget": 40}).nfev == 40
    result = run(options={**OPTIONS, "maxiter": 4})
    assert result.nit == 4
    assert not result.success
    assert result.status != 0
    assert "iterations" in result.message
    with pytest.raises(ValueError, match="give one of them"):
        run(options={**OPTIONS, "budget": 40, "maxfev": 40})
    for name in ("maxfev", "maxiter"):
        for limit in (0, 1.5, "40"):
            with pytest.raises((ValueError, TypeError), match=f"{name} must be .*, not {limit!r}"):
                run(options={**OPTIONS, name: limit})


def test_disp_prints_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    run(options={**OPTIONS, "disp": True})
    assert "evaluations" in capsys.readouterr().out
    run(options={**OPTIONS, "disp": False})
    assert capsys.readouterr().out == ""


def test_unknown_options_give_scipys_warning() -> None:
    with pytest.warns(OptimizeWarning, match="Unknown solver options: xatol, foo"):
        result = run(options={**OPTIONS, "xatol": 1e-3, "foo": 1})
    assert (result.x == run().x).all()


def test_derivatives_are_accepted_and_not_used() -> None:
    assert (run(jac=lambda x: 2 * (x - 1)).x == run().x).all()
    result = minimize(
        lambda x: (sphere(x), 2 * (x - 1)),
        np.zeros(3),
        jac=True,
        method=casmore.minimize_method,
        options=OPTIONS,
    )
    assert (result.x == run().x).all()
