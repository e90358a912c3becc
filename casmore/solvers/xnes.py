"""xNES behind the adapter, without and with adaptation sampling."""

from functools import partial

from casmore.algorithms.xnes import Xnes

make = Xnes
make_with_adaptation_sampling = partial(Xnes, adaptation_sampling=True)
