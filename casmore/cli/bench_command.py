"""``casmore bench``: compare your own solver with CAS-MORE and CMA-ES on a suite of COCO."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from casmore.cli import locate, subcommand
from casmore.cli.errors import CommandFailedError, expected
from casmore.cli.run_command import (
    carry_out,
    interrupted,
    modules_from_here,
    report_outcome,
    sigterm_like_ctrl_c,
)

if TYPE_CHECKING:
    from casmore.experiments.config.bbob import Config
    from casmore.experiments.runner import Summary
    from casmore.reports.runtimes import Runtimes

_DIMENSIONS = 4  # by default, the suite's smallest


def add_commands(commands: Any) -> None:
    """Add ``bench`` to the command line."""
    bench = subcommand.add(
        commands,
        "bench",
        _bench,
        "run your own solver on BBOB, and rank it among published algorithms",
        "The solver is a function f, x0, budget, rng that minimizes f, or a class as in "
        "docs/own_solver.md. The report begins with its rank among the algorithms of COCO's data "
        "archive, and compares it with stored trials of CAS-MORE and CMA-ES. The same command "
        "resumes a run that was stopped. Finished trials are not run again: once you have changed "
        "the solver, give another --label, or remove the run's folder.",
        (
            "casmore bench my_module:my_fmin",
            "casmore bench my_solver:OnePlusOne --dimensions 2,3 --budget 200",
            "casmore bench my_solver:OnePlusOne --suite bbob-noisy",
        ),
    )
    bench.add_argument(
        "solver", metavar="MODULE:NAME", help="the function or class, or a registered name"
    )
    bench.add_argument("--label", help="the solver's name in the report (default: NAME)")
    bench.add_argument(
        "--suite",
        default="bbob",
        metavar="NAME",
        help="bbob, bbob-noisy, bbob-largescale or bbob-boxed (%(default)s)",
    )
    bench.add_argument(
        "--dimensions", metavar="LIST", help="(the suite's first four; of bbob, 2,3,5,10)"
    )
    bench.add_argument("--functions", metavar="LIST", help="(all of the suite; of bbob, 1-24)")
    bench.add_argument("--instances", default="1-5", metavar="LIST", help="(%(default)s)")
    bench.add_argument(
        "--budget",
        type=subcommand.positive,
        default=1000,
        metavar="N",
        help="evaluations per dimension in each trial (%(default)s)",
    )
    bench.add_argument(
        "--workers", type=subcommand.positive, metavar="N", help="trials to run at a time"
    )
    bench.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the run's folder (default: runs/bench-LABEL, on other suites runs/bench-LABEL-SUITE)",
    )


def _bench(options: argparse.Namespace) -> int:
    from casmore.experiments.store import coco_files
    from casmore.reports.report_error import ReportError

    with modules_from_here(), sigterm_like_ctrl_c():
        experiment = _experiment(options)
        root = options.out or locate.RUNS / experiment.name
        try:
            summary = carry_out(experiment, root, options.workers, None)
        except KeyboardInterrupt as error:
            return interrupted(error, options, root)
        code = report_outcome(summary, options, next_step=False) if summary.failures else 0
    with expected(failure=(coco_files.BrokenDataError, ReportError)):
        _report(experiment, summary)  # also of the trials beside failed ones
    return code


def _experiment(options: argparse.Namespace) -> "Config":
    """Return the config of the run; all errors are reported before it begins."""
    from casmore.experiments.config import check
    from casmore.experiments.config.bbob import Config
    from casmore.problems import suites

    name = options.solver.rpartition(":")[2]
    # COCO does not accept labels of one letter
    label = options.label or (name if len(name) > 1 else options.solver.replace(":", "."))
    with expected(usage=(ValueError,)):
        suite = suites.find(options.suite)
        functions = list(suite.functions) if options.functions is None else options.functions
        smallest = suite.dimensions[:_DIMENSIONS]
        experiment = check.check(
            {
                "name": f"bench-{label}" + ("" if suite is suites.BBOB else f"-{suite.name}"),
                "suite": {
                    "name": suite.name,
                    "functions": functions,
                    "dimensions": smallest if options.dimensions is None else options.dimensions,
                    "instances": options.instances,
                },
                "budget": {"evaluations_per_dimension": options.budget},
                "solvers": [{"name": options.solver, "label": label, "restarts": "ipop"}],
            },
            source=f"casmore bench {options.solver}",
        )
    assert isinstance(experiment, Config)
    return experiment


def _report(experiment: "Config", summary: "Summary") -> None:
    from casmore import reports

    if not summary.published:
        raise CommandFailedError(f"{summary.folder} has no finished trials")
    page: Path = reports.build(summary.folder, beside=_stored(experiment))
    assert page.exists()


def _stored(experiment: "Config") -> "list[Runtimes]":
    """Return the stored trials on the experiment's problems, where they are as long as its own.

    Where they are missing on a function, they are left out on all functions of the dimension, as
    scores and ranks would be those of some functions only.
    """
    from casmore.experiments.notes import note
    from casmore.reports import references
    from casmore.reports.runtimes import within

    suite, budget = experiment.suite, experiment.budget.evaluations_per_dimension
    own = experiment.solvers[0].label
    stored: dict[tuple[str, int], list[Runtimes]] = {}
    for r in references.peers():
        if (
            r.suite.name == suite.name
            and r.dimension in suite.dimensions
            and r.function in suite.functions
            and r.solver != own
        ):
            stored.setdefault((r.solver, r.dimension), []).append(r)
    found: list[Runtimes] = []
    for (solver, n), trials in stored.items():
        cut = [within(r, budget * n, suite.instances or ()) for r in trials]
        usable = [r for r in cut if r is not None]
        if len(usable) < len(suite.functions):
            note(f"The stored trials of {solver} in {n}-D are shorter, or on other instances.")
            continue
        found += usable
        if missing := set(suite.instances or ()).difference(usable[0].instances):
            listed = ", ".join(map(str, sorted(missing)))
            note(f"There are no stored trials of {solver} in {n}-D on the instances {listed}.")
    if not stored:
        note(f"There are no stored trials of other solvers on {suite.name} in these dimensions.")
    return found
