"""``casmore bench``: compare your own solver with CAS-MORE and CMA-ES on a suite of COCO."""

import argparse
import sys
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
        if summary.failures:
            return report_outcome(summary, options)
    with expected(failure=(coco_files.BrokenDataError, ReportError)):
        return _report(experiment, summary)


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


def _report(experiment: "Config", summary: "Summary") -> int:
    from casmore import reports
    from casmore.reports import references
    from casmore.reports.runtimes import within

    if not summary.published:
        raise CommandFailedError(f"{summary.folder} has no finished trials")
    suite, budget = experiment.suite, experiment.budget.evaluations_per_dimension
    own = experiment.solvers[0].label
    beside = [
        cut
        for r in references.peers()
        if r.suite.name == suite.name
        and r.dimension in suite.dimensions
        and r.function in suite.functions
        and r.solver != own
        if (cut := within(r, budget * r.dimension, suite.instances or ()))
    ]
    if not beside:
        print(
            "There are no stored trials of CAS-MORE and CMA-ES on these instances at this budget.",
            file=sys.stderr,
        )
    page: Path = reports.build(summary.folder, beside=beside)
    assert page.exists()
    return 0
