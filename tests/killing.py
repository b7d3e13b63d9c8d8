"""Runs that are killed: ``python -m killing WORKSPACE INTO POINT...``.

All that a run leaves behind it renames into place, so the moments just before its renames are all there are. A point is
the end of the path that something is renamed to (``path#3``: for the third time), or a number: the first, second, ...
rename. For every point a copy of the workspace is run in a child that is killed there (SIGKILL), and run again in
another to its end; the first point that is not reached is the last. Before them, one copy is run without a child and
not killed. What is there afterwards is printed, one JSON per line.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from small_world import run_stages


def here(do, work, names, told="", seconds=None):
    """Carries out the pieces one after the other in this process, so that they are killed, too."""
    return [do(piece) for piece in work]


def die_at(point: str) -> None:
    """Kill this process just before it renames something to the path, or for the time, that ``point`` says."""
    path, _, times = ("", "", point) if point.isdigit() else point.partition("#")
    left = int(times or 1)

    def count(event, facts):
        nonlocal left
        if event == "os.rename" and os.fspath(facts[1]).endswith(path):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def ran(spec: Path, point: str | None) -> int:
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
    """The SHA-256 of every file below data/ and of dvc.lock, without the events of lineage, which tell of times."""
    found = [root / "dvc.lock", *(root / "data").rglob("*")]
    named = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
        if path.is_file()
    }
    return {
        name: digest for name, digest in sorted(named.items()) if not name.startswith(("data/lineage/", "data/.lock"))
    }


def tags(root: Path) -> list[str]:
    return subprocess.run(["git", "-C", str(root), "tag"], capture_output=True, text=True, check=False).stdout.split()


def main(workspace: Path, into: Path, points: list[str]) -> None:
    for point in [None, *points]:
        root = into / (point or "0").replace("/", "-")
        shutil.copytree(workspace, root, symlinks=True)
        if point:
            ended, again = ran(root / "spec.yaml", point), ran(root / "spec.yaml", None)
        else:  # what it imports, every child then has
            ended, again = 0, min(0, len(run_stages(root / "spec.yaml", here)))
        print(
            json.dumps({"point": point, "ended": ended, "again": again, "files": files(root), "tags": tags(root)}),
            flush=True,
        )
        shutil.rmtree(root)
        if point and not ended:  # there are no more moments
            break


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
