"""``casmore run``: what it prints, and what it refuses before it starts."""

import shlex
from pathlib import Path

import pytest

from casmore.cli import invocation, main
from cli.command_line import SMALL, casmore


def test_a_run_by_its_bare_name_says_how_to_report_it(project: Path) -> None:
    done = casmore("run", "small")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 units are done." in done.stdout
    assert done.stdout.endswith("Report:\n  casmore report runs/small\n")
    assert (project / "runs/small/data/CAS-MORE/bbobexp_f1.info").is_file()


def test_a_complete_run_is_resumed_at_once(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("2 of 2 units are done.\n")
    assert shown.err == ""


def test_a_wrong_config_has_started_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SMALL.replace("dimensions", "dimenson").replace('"cas-more"', '"mor"')
    (project / "wrong.toml").write_text(wrong)
    assert main(["run", "wrong.toml"]) == 2
    error = capsys.readouterr().err
    assert "suite.dimenson = [2]: there is no such key; did you mean 'dimensions'?" in error
    assert "solvers[0].name: unknown solver 'mor'; did you mean 'more'?" in error
    assert not (project / "runs").exists()


def test_an_unknown_config_is_answered_with_the_nearest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "smal"]) == 2
    error = capsys.readouterr().err
    assert "there is no config 'smal'; did you mean 'small'? (configs/ has: small)" in error


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--workers", "0", "'0' is not a whole number of at least 1"),
        ("--workers", "-1", "'-1' is not a whole number of at least 1"),
        ("--workers", "two", "'two' is not a whole number of at least 1"),
        ("--out", "", "'' is not the name of a folder; '.' is this one"),
        ("--out", " ", "' ' is not the name of a folder; '.' is this one"),
        ("--out", "configs/small.toml", "'configs/small.toml' is a file; name a folder"),
    ],
)
def test_wrong_values_of_options(
    option: str, value: str, complaint: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "small", option, value])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
    assert [path.name for path in project.iterdir()] == ["configs"]


@pytest.mark.parametrize("shard", ["", "0/2", "3/2", "half"])
def test_wrong_shards(shard: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small", "--shard", shard]) == 2
    assert "shard" in capsys.readouterr().err
    assert not (project / "runs").exists()


def test_a_folder_that_cannot_be_made_is_no_traceback(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    assert main(["run", "small", "--out", "file/below"]) == 1
    assert "file/below: Not a directory\n" in capsys.readouterr().err.replace(f"{project}/", "")


def test_printed_commands_can_be_pasted(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = "my runs/größer; rm -rf 'x' $HOME"
    assert main(["run", "small", "--out", out, "--workers", "1"]) == 0
    shown = capsys.readouterr().out.splitlines()
    program, *words = shlex.split(shown[-1])
    assert (program, words) == ("casmore", ["report", out])
    assert main(["status", *words[1:]]) == 0
    assert "2 of 2 units done" in capsys.readouterr().out


def test_the_command_to_resume_repeats_all_options(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from casmore.experiments import runner

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    given = ["run", "small", "--workers", "3", "--out=a folder", "--shard", "1/2"]
    assert main(given) == 130
    error = capsys.readouterr().err
    assert "0 finished units are kept in a folder; to resume, give the same command:" in error
    assert shlex.split(error.splitlines()[-1]) == ["casmore", *given]


def test_the_program_is_named_as_a_shell_will_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my venv" / "bin" / "casmore"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [str(program), "run", "small"])
    assert shlex.split(invocation.command("report", "x")) == [str(program), "report", "x"]
    monkeypatch.setenv("PATH", str(program.parent))
    assert invocation.command("report", "x") == "casmore report x"
    monkeypatch.setattr("sys.argv", ["/somewhere/casmore/__main__.py", "run", "small"])
    assert shlex.split(invocation.command("report"))[1:] == ["-m", "casmore", "report"]
