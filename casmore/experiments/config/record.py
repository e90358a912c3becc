"""The config recorded in a run folder, which identifies the run once it has begun."""

import shlex

from casmore.atomic_io import DamagedFileError, read_json
from casmore.experiments.config.base import Experiment
from casmore.experiments.config.check import check
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.store.toml_values import from_json


def recorded_config(folder: RunFolder) -> Experiment:
    """Return the config of the run in ``folder``; its solvers need not be installed.

    Raises
    ------
    DamagedFileError
        If the record is damaged.
    ConfigError
        If it is not a valid config for this version of the package.
    OSError
        If it can't be read.
    """
    out = shlex.quote(str(folder.root))
    remedy = f"`casmore run CONFIG --out {out}` with the run's config writes it again"
    document = read_json(folder.config, remedy=remedy)
    try:
        data = from_json(document)
    except ValueError as error:
        raise DamagedFileError(folder.config, str(error), remedy) from error
    return check(data, source=str(folder.config), try_solvers=False)
