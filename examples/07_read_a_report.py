"""
Read a report
=============

The figures at the top of a report by ``casmore report``, explained with the trials of CAS-MORE and
CMA-ES that the package contains. This needs ``casmore[bbob]``.
"""

# %%
# A trial is one run of a solver on one instance of one of the 24 functions, in one dimension. It
# records the number of evaluations to each of 51 targets, from 100 to 1e-8 above the optimal value.
# The stored trials end after at most 10000 n evaluations, where n is the dimension.

from casmore.reports import ecdf, league, league_figure
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.references import peers
from casmore.reports.runtimes import longest_budgets

trials = peers()
one = trials[0]
print(one.solver, f"f{one.function}", f"{one.dimension}-D", one.instances)
print("evaluations to 100, 1e-3 and 1e-8 above the optimum, one column for each trial:")
print(one.evaluations[[0, 25, 50]])

# %%
# Runtime distributions
# ---------------------
# Each panel shows the fraction of all pairs of a function and a target that a trial has reached
# after a number of evaluations, divided by the dimension. A curve further to the left is faster, a
# curve that ends higher solves more. A logarithmic axis turns "twice as fast" into a shift of the
# same width everywhere.

budgets = longest_budgets(trials)  # in evaluations per dimension
figure = ecdf.by_dimension(trials, budgets)
figure.savefig("ecdf.png")

# %%
# The same in 10-D for the five groups of functions. On the ill-conditioned unimodal functions a
# quadratic surrogate saves evaluations; on the multi-modal ones no solver reaches many targets
# within this budget.

figure = ecdf.by_group(trials, 10, budgets[10])
figure.savefig("ecdf_groups.png")

# %%
# Function by function
# --------------------
# The expected running time (ERT) to a target is the number of evaluations of all trials, each
# counted until it reached the target or ended, divided by the number of trials that reached it. The
# heat map shows the ratio of the ERTs of two solvers to the hardest target that both reach; blue:
# CAS-MORE needs fewer evaluations.

figure = heat_map(trials, "CAS-MORE", "CMA-ES")
figure.savefig("heat_map.png")

# %%
# Among all published algorithms
# ------------------------------
# Each grey line is one of the algorithms in COCO's data archive. The score is the mean over
# functions and targets of 1 - log10(ERT / n) / 4: a factor of 10 in evaluations changes it by 0.25.
# Trials that end after 10000 n evaluations lose the targets that would be reached later.

figure = league_figure.strips(league.standings(trials))
figure.savefig("league.png")

# %%
# :doc:`/bbob` describes the complete experiment and its tables.
