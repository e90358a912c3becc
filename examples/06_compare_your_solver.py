"""
Compare your own solver on BBOB
===============================

Run a solver of your own on COCO's BBOB suite, and see where it wins and loses against CAS-MORE and
CMA-ES. This needs ``casmore[bbob]``.
"""

# %%
# A function ``f, x0, budget, rng`` that minimizes ``f`` is a solver. This one is the (1+1)-ES with
# the 1/5 success rule. It is saved as a module, since the trials run in other processes.

import contextlib
import tempfile
from pathlib import Path

from casmore.cli import main
from casmore.reports import ecdf, run_data
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.references import peers
from casmore.reports.runtimes import within

folder = Path(tempfile.mkdtemp())
(folder / "my_module.py").write_text("""
def my_fmin(f, x0, budget, rng):
    x, y, sigma = x0, f(x0), 2.0
    for _ in range(budget - 1):
        candidate = x + sigma * rng.standard_normal(len(x))
        value = f(candidate)
        if value < y:
            x, y, sigma = candidate, value, 1.5 * sigma
        else:
            sigma *= 1.5**-0.25
        if sigma < 1e-12:
            break
""")

# %%
# The experiment: all functions in 2 and 5-D, three instances of each, 300 n evaluations. With
# ``restarts = "ipop"`` the solver is started again when it returns before its budget is spent. In a
# terminal, the last line is ``casmore run mine.toml --workers 2``.

(folder / "mine.toml").write_text("""
name = "mine"

[suite]
functions = "1-24"
dimensions = [2, 5]
instances = "1-3"

[budget]
evaluations_per_dimension = 300

[[solvers]]
name = "my_module:my_fmin"
label = "My-ES"
restarts = "ipop"
""")
with contextlib.chdir(folder):
    main(["run", "mine.toml", "--workers", "2"])

# %%
# The package contains trials of CAS-MORE and CMA-ES. They are cut to the same instances and budget.

trials = run_data.load(folder / "runs/mine")
for stored in peers():
    if stored.dimension in (2, 5):
        cut = within(stored, 300 * stored.dimension, instances=(1, 2, 3))
        if cut:
            trials.append(cut)

# %%
# The fraction of function-target pairs that are reached within a number of evaluations:

figure = ecdf.by_dimension(trials, budgets={2: 300, 5: 300})
figure.savefig(folder / "ecdf.png")

# %%
# The ratio of the expected running times on each function; blue: My-ES needs fewer evaluations:

figure = heat_map(trials, "My-ES", "CAS-MORE")
figure.savefig(folder / "heat_map.png")

# %%
# ``casmore bench my_module:my_fmin`` does all of this in one command, with more trials, cocopp's
# report, and the rank of the solver among the algorithms of COCO's archive; see :doc:`/own_solver`.
