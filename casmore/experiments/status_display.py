"""Display of a run's status in a terminal while sessions are running."""

import time
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from casmore.experiments.status import status, text
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Work

_SECONDS = 2.0


def show(folder: RunFolder, plan: Sequence[Work], stream: TextIO, *, follow: bool) -> None:
    """Print the status; with ``follow`` refresh it until no session is running."""
    now = status(folder, plan)
    if not follow:
        print(f"{folder.root}\n{text(now)}", file=stream)
        return
    with Live(Text(text(now)), console=Console(file=stream), auto_refresh=False) as live:
        while now.sessions:
            time.sleep(_SECONDS)
            now = status(folder, plan)
            live.update(Text(text(now)), refresh=True)
