"""What holds for all tests."""

import os

# before numpy is imported: two BLAS threads a process only fight on the few cores of a laptop or CI
os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)
