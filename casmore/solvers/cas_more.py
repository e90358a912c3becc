"""CAS-MORE behind the adapter: the algorithm is its own adapter."""

from casmore.algorithms.cas_more import CasMore

make = CasMore
