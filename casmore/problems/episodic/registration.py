"""The tasks' names in Gymnasium's registry."""

import gymnasium

_MODULE = "casmore.problems.episodic"


def register() -> None:
    """Register the environments, for ``gymnasium.make``; a second time changes nothing."""
    hole = f"{_MODULE}.hole_reaching"
    _register("casmore/HoleReaching-v0", f"{hole}:HoleReachingEnv")
    _register("casmore/HoleReaching-Noisy-v0", f"{hole}:HoleReachingEnv", depth=(0.98, 1.02))
    _register("casmore/HoleReaching-Penalty-v0", f"{hole}:HoleReachingPenaltyEnv")
    _register("casmore/TableTennis-v0", f"{_MODULE}.table_tennis:TableTennisEnv")
    _register("casmore/BeerPong-v0", f"{_MODULE}.beer_pong:BeerPongEnv")


def _register(name: str, entry_point: str, **settings: object) -> None:
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=entry_point, kwargs=settings)
