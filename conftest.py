"""What holds for all tests."""

import os
import signal

import hypothesis

# before numpy is imported: more BLAS threads than cores only slow the tests down
os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

# a shell starts its background jobs deaf to Ctrl-C, which the processes of tests would inherit
signal.signal(signal.SIGINT, signal.default_int_handler)

# a busy machine takes longer for an example than Hypothesis expects, without anything being wrong
hypothesis.settings.register_profile(
    "casmore", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("casmore")
