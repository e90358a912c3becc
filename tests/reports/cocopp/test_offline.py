import json
import subprocess
import sys
from pathlib import Path

OFFLINE = """
import json, socket
asked = []
def refuse(*arguments, **_):
    asked.append(repr(arguments))
    raise OSError("no network")
socket.getaddrinfo = socket.create_connection = refuse
from casmore.reports.cocopp.offline import import_cocopp
cocopp = import_cocopp()
assert cocopp is import_cocopp()
print(json.dumps(asked))
"""


def test_cocopp_is_imported_without_network_noise_or_trace(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env={"HOME": str(home), "PATH": "", "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
    assert done.stderr == ""
    assert list(home.rglob("*")) == []
