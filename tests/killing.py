"""Runs that are killed: ``python -m killing WORKSPACE INTO POINT...`` kills a run at its first, second, ... rename.

All that a run leaves behind it renames into place, so the moments just before its renames are all there are. For every
point a copy of the workspace is run in a child that is killed there (SIGKILL), then run again to its end. Point 0 is
the run that nobody kills. What lies below data/ afterwards is printed as JSON, one line per point.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

from small_world import run_stages

from tasks import expectations  # noqa: F401  (imported here once, not in every child)


def here(do, work, names, told=""):
    """Carries out the pieces one after the other in this process, so that they are killed, too."""
    return [do(piece) for piece in work]


def die_at(point: int) -> None:
    """Kill this process just before it renames something for the ``point``-th time."""
    seen = 0

    def count(event, _):
        nonlocal seen
        if event == "os.rename":
            seen += 1
            if seen == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def ran(spec: Path, point: int) -> int:
    """The stages of ``spec`` in a child; the signal that ended it, or its exit code."""
    child = os.fork()
    if child == 0:
        if point:
            die_at(point)
        run_stages(spec, here)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def files(root: Path) -> dict[str, str]:
    """The SHA-256 of every file below data/ but the events of lineage, which tell of times."""
    found = (path for path in (root / "data").rglob("*") if path.is_file())
    named = {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
    return {name: digest for name, digest in sorted(named.items()) if not name.startswith(("data/lineage/", "data/.lock"))}


def main(workspace: Path, into: Path, points: list[int]) -> None:
    for point in points:
        root = into / str(point)
        shutil.copytree(workspace, root, symlinks=True)
        ended = ran(root / "spec.yaml", point)
        again = ran(root / "spec.yaml", 0)
        print(json.dumps({"point": point, "ended": ended, "again": again, "files": files(root)}), flush=True)
        shutil.rmtree(root)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(point) for point in sys.argv[3:]])
