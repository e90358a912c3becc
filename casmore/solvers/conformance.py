"""Black-box tests of the solver contract, for authors of their own solvers.

`check_solver` tests each point of the contract (`casmore.solvers.protocol`). For each violation it
returns a message that says what is wrong and how to fix it. ``casmore check-solver`` prints them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from casmore.solvers import conformance_checks
from casmore.solvers.conformance_checks import CHECKS, BrokenPromiseError, Maker
from casmore.solvers.isolation import captured_output, in_empty_folder
from casmore.solvers.protocol import SolverFactory


@dataclass(frozen=True)
class Finding:
    """The outcome of a check.

    Attributes
    ----------
    check
        Description of the check.
    message
        What is wrong; None if the check passed.
    note
        Whether the finding is only a hint, not a violation of the contract.
    """

    check: str
    message: str | None = None
    note: bool = False

    @property
    def broken(self) -> bool:
        """Whether the contract is violated."""
        return self.message is not None and not self.note


def check_solver(factory: SolverFactory, settings: dict[str, Any] | None = None) -> list[Finding]:
    """Test a solver against the contract.

    Parameters
    ----------
    factory
        Builds the solver: its class, or a function.
    settings
        Passed to each call of the factory.

    Returns
    -------
    list of Finding
        One per check. If the solver can't be built, the only finding says why.
    """
    make = Maker(factory, settings or {})
    findings: list[Finding] = []
    # in a temporary folder, with captured output: a solver may write or print in each check
    with in_empty_folder() as folder, captured_output(folder / "all output"):
        for name, check in CHECKS.items():
            message = _failure(check, make)
            findings.append(Finding(name, message, note=check is conformance_checks.uses_its_seed))
            if message is not None and check is conformance_checks.can_be_built:
                break
    return findings


def _failure(check: Callable[[Maker], None], make: Maker) -> str | None:
    try:
        check(make)
    except BrokenPromiseError as error:
        return str(error)
    except (Exception, SystemExit) as error:  # any exception of a solver is a finding
        where = _place(error)
        return f"it raised {type(error).__name__}: {error}{where}"
    return None


def _place(error: BaseException) -> str:
    """Return the line in the solver's code where the error was raised."""
    trace, last = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in (__file__, conformance_checks.__file__):
            last = last or trace
            if "site-packages" not in trace.tb_frame.f_code.co_filename:
                last = trace
        trace = trace.tb_next
    return "" if last is None else f" ({last.tb_frame.f_code.co_filename}, line {last.tb_lineno})"
