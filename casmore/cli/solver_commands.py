"""``casmore solvers`` and ``check-solver``."""

import argparse
from typing import Any

from casmore.cli import subcommand
from casmore.cli.errors import EXIT_FAILED, UsageError
from casmore.cli.run_command import modules_from_here
from casmore.solvers import registry


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    subcommand.add(commands, "solvers", _solvers, "list the solvers")
    check = subcommand.add(
        commands,
        "check-solver",
        _check_solver,
        "check that a solver, for example your own, fulfils the contract",
        "docs/own_solver.md describes the contract.",
        ("casmore check-solver cma", "casmore check-solver my_module:MySolver"),
    )
    solver = check.add_argument(
        "solver", metavar="NAME", help="the name of a solver, or module:attribute"
    )
    solver.completer = _names


def _names(**_: object) -> list[str]:
    return [solver.name for solver in registry.registered()]


def _solvers(options: argparse.Namespace) -> int:
    for solver in registry.registered():
        hint = f" (to install: pip install 'casmore[{solver.extra}]')" if solver.missing else ""
        print(f"{solver.name:22} {solver.description}{hint}")
    return 0


def _check_solver(options: argparse.Namespace) -> int:
    from casmore.solvers.conformance import check_solver

    with modules_from_here():
        try:
            factory = registry.factory(options.solver)
        except (registry.UnknownSolverError, registry.MissingDependencyError) as error:
            raise UsageError(str(error)) from error
        except (Exception, SystemExit) as error:  # a user's module may raise anything
            reason = f"{type(error).__name__}: {error}"
            raise UsageError(f"importing {options.solver!r} fails: {reason}") from error
        findings = check_solver(factory)
    for finding in findings:
        verdict = "WRONG" if finding.broken else "ok"
        print(f"{verdict:5}  {finding.check}")
        if finding.message is not None:
            print(f"       {'note: ' if finding.note else ''}{finding.message}")
    broken = sum(finding.broken for finding in findings)
    print(f"{options.solver} keeps the contract." if not broken else f"{broken} wrong.")
    return EXIT_FAILED if broken else 0
