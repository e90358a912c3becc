"""
Experiments at scale
====================

Run an experiment in parts, resume it, and repair it after damage. The example is small; the same
commands serve long runs on many machines. This needs ``casmore[bbob]``.
"""

# %%
# An experiment is a TOML file. This one has two solvers on two functions, three instances each, in
# 2-D: twelve trials. Worker processes run them, and each is stored when it is finished.

import contextlib
import tempfile
from pathlib import Path

from casmore.cli import main
from casmore.reports import ecdf, run_data

folder = Path(tempfile.mkdtemp())
(folder / "small.toml").write_text("""
name = "small"

[suite]
functions = "1,8"
dimensions = [2]
instances = "1-3"

[budget]
evaluations_per_dimension = 500

[run]
workers = 2

[[solvers]]
name = "cas-more"
label = "CAS-MORE"
restarts = "ipop"

[[solvers]]
name = "xnes"
label = "xNES"
restarts = "ipop"
""")


def casmore(*arguments):
    """Run a command as in a terminal in this folder."""
    with contextlib.chdir(folder):
        main(arguments)


# %%
# Shards share a folder and can be run at any time, on any machine that sees it. The first half, as
# with ``casmore run small.toml --shard 1/2`` in a terminal:

casmore("run", "small.toml", "--shard", "1/2")

# %%
casmore("status", "runs/small")

# %%
# The same command without a shard runs what is missing, and merges the COCO data.

casmore("run", "small.toml")

# %%
# A disk or a person may damage a file. ``casmore verify`` compares each with its checksum, and puts
# damaged trials aside; the next run repeats them.

damaged = min((folder / "runs/small/units").rglob("*.tdat"))
damaged.write_text("")
casmore("verify", "runs/small")
casmore("run", "small.toml")

# %%
# The seed of a trial depends only on the config's seed and the trial's name. So the merged data are
# the same, byte for byte, as those of a run that was never interrupted.

trials = run_data.load(folder / "runs/small")
for one in trials:
    print(one.solver, f"f{one.function}:", one.successes, "of", one.trials, "trials solved")

figure = ecdf.by_dimension(trials, budgets={2: 1000})
figure.savefig(folder / "ecdf.png")

# %%
# ``casmore report runs/small`` makes the complete report. :doc:`/at_scale` also describes dask and
# SLURM, time limits, and how to get the same bytes on different machines.
