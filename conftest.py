"""What holds for all tests."""

import os

import hypothesis

# before numpy is imported: two BLAS threads a process only fight on the few cores of a laptop or CI
os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

# a busy machine takes longer for an example than Hypothesis expects, without anything being wrong
hypothesis.settings.register_profile(
    "casmore", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("casmore")
