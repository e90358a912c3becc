"""CAS-MORE and its lean variant behind the adapter: the algorithms are their own adapters."""

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.lean_cas_more import LeanCasMore

make = CasMore
make_lean = LeanCasMore
