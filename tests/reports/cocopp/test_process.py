"""What the process that runs cocopp changes in it."""

import re

import pytest

from casmore.reports.cocopp import process
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.cocopp.report import _TIME


def test_folders_of_the_same_second_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    cocopp = import_cocopp()
    # the suite of other tests of this process would be part of the names
    monkeypatch.setattr(cocopp.testbedsettings, "current_testbed", None)
    monkeypatch.setattr(cocopp.findfiles.time, "strftime", lambda _: "112911h0108")
    original = cocopp.findfiles.get_output_directory_sub_folder
    assert original("data/alone") == original(["data/alone"]) == "alone_112911h0108"

    monkeypatch.setattr(cocopp.findfiles, "get_output_directory_sub_folder", original)  # and later
    process._number_folders(cocopp)
    names = [
        cocopp.findfiles.get_output_directory_sub_folder(data)
        for data in ("data/alone", ["data/alone"], "elsewhere/alone")
    ]
    assert len(set(names)) == 3
    assert {re.sub(_TIME, "", name) for name in names} == {"alone"}
