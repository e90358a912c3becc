"""Short names of BBOB's 24 functions."""

NAMES = dict(
    enumerate(
        (
            "Sphere",
            "Separable ellipsoid",
            "Separable Rastrigin",
            "Büche-Rastrigin",
            "Linear slope",
            "Attractive sector",
            "Step ellipsoid",
            "Rosenbrock",
            "Rotated Rosenbrock",
            "Ellipsoid",
            "Discus",
            "Bent cigar",
            "Sharp ridge",
            "Different powers",
            "Rastrigin",
            "Weierstrass",
            "Schaffer F7, cond. 10",
            "Schaffer F7, cond. 1000",
            "Griewank-Rosenbrock",
            "Schwefel",
            "Gallagher 101 peaks",
            "Gallagher 21 peaks",
            "Katsuura",
            "Lunacek bi-Rastrigin",
        ),
        start=1,
    )
)


def title(function: int) -> str:
    """Return ``"f8 Rosenbrock"``, for example."""
    return f"f{function} {NAMES[function]}"
