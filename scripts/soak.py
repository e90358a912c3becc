"""Run a config repeatedly while its processes are killed at random; no data may be lost.

    python scripts/soak.py configs/quick.toml --minutes 60 --workers 1

First the config is run without interruption. Then, until the time limit, it is run in a new folder
while every few seconds a worker, the parent, or all processes receive SIGKILL; each time the run is
resumed with the same command. Each completed run is compared, byte for byte, with the uninterrupted
one. The last run is completed without kills. The script prints the number of kills, and exits with
0 if all data were the same.

Most kills occur some seconds after units have begun, on slow machines as well; some occur at any
time, for instance while a process is starting.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

_LONGEST_PAUSE, _SHORTEST_PAUSE = 6.0, 0.5
_ANY_MOMENT = 0.2  # fraction of the kills that do not wait for a unit to begin
_LINE_SECONDS = 60.0
_GAVE_UP = "its worker process died"  # what a unit fails of when it is hit three times in a session


class SoakFailedError(Exception):
    """The harness lost something."""


def main() -> int:
    """Soak a config; return the exit code."""
    options = _options()
    random.seed(options.seed)
    if not options.keep:
        shutil.rmtree(options.out, ignore_errors=True)
    soak = Soak(options)
    try:
        soak.reference()
        began = time.monotonic()
        while soak.one_pass(until=began + 60 * options.minutes):
            pass
    except SoakFailedError as error:
        print(f"FAILED: {error}\n{soak}", flush=True)
        return 1
    print(f"All data are those of the undisturbed run, byte for byte.\n{soak}", flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", nargs="?", default="configs/quick.toml")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=None, help="of the kills")
    parser.add_argument("--out", type=Path, default=Path("runs/soak"), help="emptied first")
    parser.add_argument("--keep", action="store_true", help="resume what is in --out")
    return parser.parse_args()


class Soak:
    """Runs of one config, and what was done to them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._expected: dict[str, bytes] = {}
        self.kills: Counter[str] = Counter()
        self.passes = self.sessions = self.gave_up = 0
        self._said = time.monotonic()

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} of {what}" for what, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({kinds}), {self.sessions} sessions, "
            f"{self.passes} runs compared, {self.gave_up} sessions that gave up a unit for the time"
        )

    def reference(self) -> None:
        """Run the config undisturbed."""
        root = self._options.out / "reference"
        if self._start(root).wait():  # takes no time if it is there already
            raise SoakFailedError(f"the undisturbed run failed; see {self._log(root)}")
        self._expected = _tree(root / "data")
        print(f"undisturbed run: {len(self._expected)} files of data", flush=True)

    def one_pass(self, until: float) -> bool:
        """Get one run through, and compare it; return whether there is time for another."""
        root = self._options.out / "soaked"
        while self._session(root, until):
            pass
        found = _tree(root / "data")
        if found != self._expected:
            names = sorted({*found, *self._expected})
            wrong = [name for name in names if found.get(name) != self._expected.get(name)]
            raise SoakFailedError(f"{len(wrong)} files differ in {root}, the first: {wrong[0]}")
        shutil.rmtree(root)
        self.passes += 1
        print(f"{time.strftime('%H:%M:%S')} the same data after {self}", flush=True)
        return time.monotonic() < until

    def _session(self, root: Path, until: float) -> bool:
        """Start or resume the run, and kill until it ends; return whether it has to be resumed."""
        began = time.time()
        process = self._start(root)
        self.sessions += 1
        killed = False
        while process.poll() is None and time.monotonic() < until:
            self._say(root)
            if self._wait_for_a_moment(process, root, began, until):
                killed = self._kill(process) or killed
        process.wait()
        if process.returncode == 0:
            return False
        if killed:
            return True
        if _GAVE_UP in self._log(root).read_text(encoding="utf-8", errors="replace"):
            self.gave_up += 1
            return True
        raise SoakFailedError(
            f"exit code {process.returncode}, without having been killed; see {self._log(root)}"
        )

    def _wait_for_a_moment(
        self, process: "subprocess.Popen[bytes]", root: Path, began: float, until: float
    ) -> bool:
        """Wait until something is to be killed; return whether there is anything left to kill."""
        in_work = random.random() < _ANY_MOMENT
        while not in_work and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
            in_work = any(_newer(path, began) for path in root.glob("private/*/*@f*"))
        try:
            process.wait(timeout=random.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))
        except subprocess.TimeoutExpired:
            return time.monotonic() < until
        return False

    def _say(self, root: Path) -> None:
        if time.monotonic() - self._said > _LINE_SECONDS:
            self._said = time.monotonic()
            done = sum(1 for _ in root.glob("units/*/*/unit.json"))
            print(f"{time.strftime('%H:%M:%S')} {done} units done; {self}", flush=True)

    def _kill(self, process: "subprocess.Popen[bytes]") -> bool:
        """Kill something; return whether the parent was among it."""
        what = random.choices(["workers", "parents", "all processes"], weights=[6, 3, 1])[0]
        if what == "workers":
            children = _children(process.pid)
            if not children:
                return False
            victim = random.choice(children)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                return False
        elif what == "parents":
            process.kill()  # its workers have to notice
            process.wait()
        else:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.kills[what] += 1
        return what != "workers"

    def _start(self, root: Path) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "casmore", "run", self._options.config]
        command += ["--out", str(root), "--workers", str(self._options.workers)]
        self._log(root).parent.mkdir(parents=True, exist_ok=True)
        with self._log(root).open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    @staticmethod
    def _log(root: Path) -> Path:
        """Where the output of the last session is."""
        return root.with_suffix(".log")


def _newer(path: Path, then: float) -> bool:
    """Whether a unit was begun after that, and not left by a session that was killed."""
    try:
        return path.stat().st_mtime >= then
    except OSError:  # it is done by now
        return False


def _children(parent: int) -> list[int]:
    """Return the processes that have this parent: workers, and loky's own helper."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def _tree(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder with their content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


if __name__ == "__main__":
    sys.exit(main())
