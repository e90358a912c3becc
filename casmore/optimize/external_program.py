"""An objective function that is a program: it gets the point as arguments and prints the value."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PLACEHOLDER = re.compile(r"\{x(\d*)\}")


class ProgramFailedError(Exception):
    """The program did not print a value; the message says why."""


class ExternalProgram:
    """Runs a command for each point; the last line of its output is the value.

    An instance may be called by several threads at once.

    Parameters
    ----------
    command
        The command, in which ``{x}`` stands for all coordinates, separated by spaces, and ``{x0}``,
        ``{x1}``, ... for one each. All other braces are left as they are.
    dimension
        The dimension n.
    shell
        Whether a shell runs the command. Otherwise the command is split into words like a shell
        does, and ``{x}`` as a word of its own becomes n words.
    timeout
        Seconds after which the program and its children are killed; None: never.

    Raises
    ------
    ValueError
        If the command has no placeholder or one of a coordinate that does not exist, or can't be
        split into words.
    FileNotFoundError
        If there is no such program.
    """

    def __init__(
        self, command: str, dimension: int, *, shell: bool = False, timeout: float | None = None
    ) -> None:
        found = _PLACEHOLDER.findall(command)
        if not found:
            raise ValueError(
                f"the command {command!r} has no place for the point: write {{x}} for all "
                "coordinates, or {x0}, {x1}, ... for one each"
            )
        for index in filter(None, found):
            if int(index) >= dimension:
                raise ValueError(
                    f"the command has {{x{index}}}, but the coordinates are x0 to x{dimension - 1}"
                )
        self._template = command if shell else _words(command)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def __call__(self, x: Array) -> float:
        """Return the value of a point, shape (n,).

        Raises
        ------
        ProgramFailedError
            If the program can't be started, ends with another exit code than 0, takes too long, or
            its last line is not a number; or if `stop` ended it.
        """
        try:
            process = self._start(x)
        except OSError as error:
            raise ProgramFailedError(f"it can't be started: {error}") from error
        try:
            output, errors = process.communicate(timeout=self._timeout)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            process.communicate()
            raise ProgramFailedError(f"it took more than {self._timeout:g} s") from error
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode != 0:
            raise ProgramFailedError(_ending(process.returncode) + _quoted(_last_line(errors)))
        line = _last_line(output)
        try:
            return float(line)
        except ValueError as error:
            raise ProgramFailedError(
                f"the last line of its output is {line!r}, not a number"
                if line
                else "it printed nothing"
            ) from error

    def stop(self) -> None:
        """Kill what runs; later calls fail."""
        with self._lock:
            self.stopped = True
            for process in self._running:
                if process.returncode is None:
                    _kill(process)

    def _start(self, x: Array) -> subprocess.Popen[str]:
        command = _filled(self._template, [repr(v) for v in x.tolist()])
        with self._lock:
            if self.stopped:
                raise ProgramFailedError("the run was stopped")
            # a session of its own: Ctrl-C reaches only this process, which then calls `stop`
            process = subprocess.Popen(
                command,
                shell=isinstance(command, str),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._running.add(process)
        return process


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {command!r} can't be split into words: {error}") from error
    if shutil.which(words[0]) is None:
        exists = Path(words[0]).exists()
        problem = "is not executable" if exists else "is not found"
        raise FileNotFoundError(f"the program {words[0]!r} of the command {problem}")
    return words


def _filled(template: str | list[str], numbers: list[str]) -> str | list[str]:
    def filled(text: str) -> str:
        return _PLACEHOLDER.sub(
            lambda match: numbers[int(match[1])] if match[1] else " ".join(numbers), text
        )

    if isinstance(template, str):
        return filled(template)
    return [word for given in template for word in (numbers if given == "{x}" else [filled(given)])]


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the process and its children."""
    with contextlib.suppress(OSError):  # it has ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""


def _quoted(line: str) -> str:
    return f": {line}" if line else ""


def _ending(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
    return f"its exit code is {code}"
