"""Find configs and runs by name or path, and list them for completion."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from casmore.cli.errors import UsageError, did_you_mean, expected

if TYPE_CHECKING:
    from casmore.experiments.store.run_folder import RunFolder
    from casmore.experiments.work_unit import Work

CONFIGS = Path("configs")
RUNS = Path("runs")
RUN_HELP = "a run's folder, its name in runs/, or the config it was made from"


def config_path(given: str) -> Path:
    """Return the config file that ``given`` stands for.

    Raises
    ------
    UsageError
        If there is none.
    """
    for path in _configs(given):
        if path.is_file():
            return path
    _not_found(f"there is no config {given!r}", Path(given).stem, config_names(), CONFIGS)


def run_path(given: str) -> Path:
    """Return the run's folder that ``given`` stands for.

    Raises
    ------
    UsageError
        If there is none.
    """
    named = (RUNS / _name_in(config) for config in _configs(given))
    for path in (Path(given), RUNS / given, *named):
        if is_run(path):
            return path
    what = f"{given!r} is not the folder of a run"
    _not_found(what, Path(given).name, run_names(), RUNS)


def is_run(folder: Path) -> bool:
    """Whether the folder is that of a run."""
    return (folder / "config.json").is_file()


def open_run(given: str) -> "tuple[RunFolder, tuple[Work, ...]]":
    """Return the folder and the plan of a run.

    Raises
    ------
    UsageError
        If there is no such run, or its config can't be read.
    """
    from casmore.experiments import plan
    from casmore.experiments.config import record
    from casmore.experiments.store import run_folder

    run = run_folder.RunFolder(run_path(given))
    with expected(usage=(OSError, ValueError)):
        experiment = record.recorded_config(run)
    return run, plan.make_plan(experiment)


def is_study(plan: "Sequence[Work]") -> bool:
    """Whether a run is a study, whose units have traces but no COCO data."""
    from casmore.experiments.work_unit import TracedWork

    return all(isinstance(work, TracedWork) for work in plan)


def config_names(**_: object) -> list[str]:
    """Return the names of the configs in ``configs/``; also used for completion."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def run_names(**_: object) -> list[str]:
    """Return the names of the runs in ``runs/``; also used for completion."""
    return sorted(path.parent.name for path in RUNS.glob("*/config.json"))


def _configs(given: str) -> tuple[Path, Path]:
    """Return the files in which a config may be: by its path, and by its name in ``configs/``."""
    return Path(given), CONFIGS / f"{given}.toml"


def _name_in(path: Path) -> str:
    """Return the name in a config, which names its run folder; by default the file's name."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8-sig"))["name"])
    except (OSError, ValueError, KeyError):
        return path.stem


def _not_found(what: str, name: str, known: list[str], where: Path) -> NoReturn:
    hint = did_you_mean(name, known)
    listing = f" ({where}/ has: {', '.join(known)})" if known else f" ({where}/ has none)"
    raise UsageError(what + hint + listing)
