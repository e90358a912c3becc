"""``casmore status``, ``verify`` and ``merge`` of a run that is not as it should be."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from casmore.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(done: Path) -> Path:
    """A finished run, in a folder whose name a shell would take apart."""
    return (done / "runs" / "small").rename(done / "runs" / "it's my run")


def test_merge_and_status_count_what_is_done(run: Path, capsys: Capture) -> None:
    shutil.rmtree(run / "units" / "CAS-MORE" / "f001_d02_i002_r0")
    assert main(["merge", str(run)]) == 0
    assert capsys.readouterr().out == f"1 of 2 units are done.\n  CAS-MORE: {run}/data/CAS-MORE\n"
    assert main(["status", str(run)]) == 0
    assert "1 of 2 units done\nno session is running; to resume" in capsys.readouterr().out


def test_a_damaged_unit_is_found_set_aside_and_run_again(run: Path, capsys: Capture) -> None:
    (run / "units/CAS-MORE/f001_d02_i001_r0/unit.json").write_bytes(b"")
    assert main(["verify", str(run)]) == 1
    shown = capsys.readouterr().out
    assert "CAS-MORE/f001_d02_i001_r0: " in shown
    assert "2 units checked, 1 damaged." in shown
    assert main(["run", "small", "--out", str(run)]) == 0
    assert main(["verify", str(run)]) == 0
    assert "2 units checked, 0 damaged." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("damaged", "command"),
    [("config.json", "status"), ("units/CAS-MORE/f001_d02_i001_r0/SHA256SUMS", "merge")],
)
def test_the_command_that_mends_it_can_be_pasted(
    damaged: str, command: str, run: Path, capsys: Capture
) -> None:
    (run / damaged).write_bytes(b"\0" * 20)
    shutil.rmtree(run / "data")
    assert main([command, str(run)]) != 0
    found = re.search("`(.*?)`", capsys.readouterr().err)
    assert found is not None
    program, *words = shlex.split(found[1])
    assert program == "casmore"
    assert words[-1] == str(run)
    words = ["small" if word == "CONFIG" else word for word in words]
    assert main(words) in (0, 1)  # verify says with 1 that it has found damage
    assert main(["run", "small", "--out", str(run)]) == 0
    assert main([command, str(run)]) == 0
