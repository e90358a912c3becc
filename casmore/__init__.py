"""CAS-MORE: black-box optimization with natural gradients, trust regions and entropy control."""

from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.stopping import StopReason
from casmore.optimize import fmin, minimize_method

__all__ = ["CasMore", "CasMoreParameters", "StopReason", "fmin", "minimize_method"]
