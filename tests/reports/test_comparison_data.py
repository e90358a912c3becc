"""Data to compare with: found, or refused before any work with what is wrong."""

import shutil
import zipfile
from pathlib import Path

import pytest

from casmore.reports import ReportError, comparison_data
from reports.logged import LoggedRun


@pytest.fixture
def data(run: LoggedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A solver's COCO data, in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run.folder / "data" / "first", "others/NAME")
    return Path("others/NAME")


def test_folders_and_archives_are_told_from_names_of_entries(data: Path) -> None:
    with zipfile.ZipFile("NAME.zip", "w") as archive:
        for file in data.rglob("*"):
            archive.write(file, file.relative_to("others"))
    given = [str(data), "BIPOP-CMA-ES_hansen", "NAME.zip", "2009/BIPOP"]
    assert comparison_data.find(given, Path("mine")) == (
        [data, Path("NAME.zip")],
        ["BIPOP-CMA-ES_hansen", "2009/BIPOP"],
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("others/NAM", r"there is no such folder or file; did you mean others/NAME\?"),
        ("other/NAME/x/", r"no such folder or file; did you mean others\?"),
        ("./nothing-like-it", r"there is no such folder or file$"),
        ("/nothing-like-it", r"there is no such folder or file$"),
        ("nothing/like-it", r"there is no such folder or file$"),
        ("", r"--compare '': there is no such folder or file"),
        ("empty", r"no \.info file, in this folder"),
        ("text", r"this file is no archive \(tar, tgz, zip\)$"),
        ("others/NAME/bbobexp_f1.info", r"no archive .*; give its folder, others/NAME$"),
        ("run", r"the folder of a run; .*: run/data/NAME$"),
    ],
)
def test_what_is_no_data(name: str, message: str, data: Path) -> None:
    Path("empty").mkdir()
    Path("text").write_text("nothing")
    shutil.copytree("others", "run/data")
    Path("run/config.json").touch()
    with pytest.raises(ReportError, match=message):
        comparison_data.find([str(data), name], Path("mine"))


def test_incomplete_data(data: Path) -> None:
    file = data / "data_f1" / "bbobexp_f1_DIM2.dat"
    whole = file.read_bytes()
    for content, what in ((b"", "is empty"), (whole[:-20], "ends in the middle of a line")):
        file.write_bytes(content)
        with pytest.raises(ReportError, match=rf"_DIM2.dat {what}: the data are incomplete"):
            comparison_data.find([str(data)], Path("mine"))
    file.unlink()
    with pytest.raises(ReportError, match=r"_DIM2.dat is missing, which .*f1.info names"):
        comparison_data.find([str(data)], Path("mine"))
    file.write_bytes(whole)
    assert comparison_data.find([str(data)], Path("mine")) == ([data], [])


def test_the_same_data_twice(data: Path) -> None:
    with pytest.raises(ReportError, match=r"--compare others/NAME/../NAME: given twice"):
        comparison_data.find(["others/NAME", "others/NAME/../NAME"], Path("mine"))
    shutil.copytree(data, "mine/data/NAME")
    with pytest.raises(ReportError, match=r"mine/data/NAME: the run's own data are in its report"):
        comparison_data.find(["mine/data/NAME"], Path("mine"))
    # the same name in another run is another algorithm to cocopp
    assert comparison_data.find(["others/NAME"], Path("mine")) == ([data], [])


def test_data_of_another_suite(data: Path) -> None:
    info = data / "bbobexp_f1.info"
    whole = info.read_text()
    info.write_text(whole.replace("suite = 'bbob'", "suite = 'bbob-noisy'"))
    with pytest.raises(ReportError, match="data of the suite bbob-noisy, the run's are of bbob"):
        comparison_data.find([str(data)], Path("mine"))
    # cocopp compares these suites
    info.write_text(whole.replace("suite = 'bbob'", "suite = 'bbob-largescale'"))
    assert comparison_data.find([str(data)], Path("mine")) == ([data], [])
