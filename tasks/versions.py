"""Versions: git holds code, spec, schema and dvc.lock of every release; DVC holds its files. The only importer of dvc.

The graph that DVC knows is the list of stages: ``dvc_yaml`` writes it down, and a stage's result is recorded as
``dvc repro`` would have recorded it, with the same bytes in dvc.lock. Releasing never moves HEAD, the index or the work
tree: a release is a tag on a commit beside the branch.

What may become public is decided here. Every private output carries ``remote: vault``, so that no push to another
remote sends it, and every private folder holds a blind, so that its hash in dvc.lock says nothing about its rows.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import yaml

from models.errors import Fault, SpecError, StateError, nearest
from tasks.store import whole_file
from tasks.workspace import Workspace

if TYPE_CHECKING:
    from dvc.repo import Repo

    from tasks.spec import Plan
    from tasks.step import Stage

VAULT = "vault"
VAULT_AT_HOME = "data/vault"
"""The DVC remote of private outputs. Until its owner gives it another place ('dvc remote modify --local vault url ...')
it is a folder of the workspace: without any, DVC could check nothing out."""

PUBLIC_DATA = ("released", "schemas", "expectations", "examples")
PUBLIC_FILES = (".gitignore", ".gitkeep", "README.md")
PUBLIC_DVC = ("config", ".gitignore")

IGNORED = (
    "/data/raw/",
    "/data/interim/",
    "/data/released/",
    "/data/withheld/",
    "/data/lineage/",
    "/data/secret/",
    "/data/vault/",
    "/data/warehouse/",
    "/data/audits.jsonl",
    "/data/.lock",
)

CODE = ("flows", "tasks", "models", "pyproject.toml")
REPOSITORY_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
NOBODY = {"NAME": "Parquetry", "EMAIL": "parquetry@localhost"}
"""Who makes the commit of a release where git does not know who works here."""


def publishable(path: str) -> bool:
    """Whether a file may reach a public repository or remote; ``path`` is relative to the workspace, with slashes.

    Below ``data/`` and ``.dvc/`` only what is listed may; elsewhere lies code and text, which may.
    """
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or PurePosixPath(path).is_absolute():
        return False
    if parts[0] == "data":
        return len(parts) > 1 and (parts[1] in PUBLIC_DATA or parts[1:] in {(name,) for name in PUBLIC_FILES})
    if parts[0] == ".dvc":
        return parts[1:] in {(name,) for name in PUBLIC_DVC}
    return True


def refuse_public(paths: Iterable[str], place: str) -> None:
    """Raises SpecError naming every path that may not reach ``place``."""
    private = sorted({path for path in paths if not publishable(path)})
    if private:
        remedy = f"'git rm --cached' it, or give it 'remote: {VAULT}' in dvc.yaml"
        raise SpecError([Fault(path, f"is private and would reach {place}", remedy) for path in private])


@dataclass(frozen=True)
class Outline:
    """What dvc.yaml is made of. ``sections`` are the keys that the spec file spells out (DVC refuses to track a missing
    key), ``contract`` the files it names: the schema and the owner's expectations."""

    spec: str
    sections: frozenset[str]
    contract: tuple[str, ...]
    stages: tuple[Stage, ...]

    @classmethod
    def of(cls, plan: Plan, stages: Sequence[Stage]) -> Outline:
        fields = type(plan.spec).model_fields
        said = frozenset(fields[name].alias or name for name in plan.spec.model_fields_set)
        named = (plan.spec.schema_file, plan.spec.expectations)
        contract = tuple(path for path in named if path is not None and _inside(plan.workspace.root, path))
        return cls(plan.path.name, said, contract, tuple(stages))


def _inside(root: Path, path: str) -> bool:
    return (root / path).resolve().is_relative_to(root.resolve())


def dvc_yaml(outline: Outline) -> str:
    """The text of dvc.yaml.

    A stage that reads a file of a folder depends on the whole folder, because only folders are blinded. A source is no
    dependency: its hash would be written into dvc.lock. A stage that reads no file is therefore always carried out, and
    finds by itself that nothing has changed. DVC compares sections without the order of their keys, so that a stage to
    which it matters depends on the whole spec.
    """
    here = Workspace(Path())
    outs = [path.as_posix() for stage in outline.stages for path in stage.writes(here)]
    stages = {stage.name: _stage(stage, outline, here, outs) for stage in outline.stages}
    text = yaml.safe_dump({"stages": stages}, sort_keys=False, width=120)
    return f"# Written from {outline.spec} by every run; changes made here are lost.\n{text}"


def _stage(stage: Stage, outline: Outline, here: Workspace, outs: Collection[str]) -> dict[str, Any]:
    reads = [path.as_posix() for path in stage.reads(here)]
    deps = [out for out in outs if any(PurePosixPath(path).is_relative_to(out) for path in reads)]
    sections = [name for name in stage.sections if name in outline.sections]
    return {
        "cmd": f"python -m flows run {shlex.quote(outline.spec)} --only {stage.name}",
        "deps": [*([outline.spec] if stage.ordered else []), *outline.contract, *deps],
        **({"params": [{outline.spec: sections}]} if sections else {}),
        "outs": [_out(path.as_posix()) for path in stage.writes(here)],
        **({} if reads else {"always_changed": True}),
    }


def _out(path: str) -> dict[str, Any]:
    return {path: {"persist": True} if publishable(path) else {"remote": VAULT}}


def blind(folders: Iterable[Path], workspace: Workspace) -> None:
    """Put a secret of unguessable length into every private folder of ``folders``, unless it is there.

    dvc.lock holds the hash and the size of each output, and goes where the tag of a release goes. Without the blind,
    whoever has a table could test by that hash whether it is the source. The blind comes from the workspace's seed: the
    same content has the same hash again. It is a folder, since whatever clears out a stage's folder expects folders.
    """
    for folder in folders:
        name = folder.relative_to(workspace.root).as_posix()
        if not folder.is_dir() or publishable(name):
            continue
        key = workspace.seed().child(f"blind/{name}")
        content = hashlib.shake_256(key.key).digest(1024 + key.integer() % 64_512)
        path = folder / ".blind" / "secret"
        if not path.is_file() or path.read_bytes() != content:
            with whole_file(path) as beside:
                beside.write_bytes(content)


@dataclass(frozen=True)
class Unversioned:
    """There is no version history, and why."""

    reason: str


def open(root: Path) -> Versions | Unversioned:
    """The version history of the workspace at ``root``; nothing is written."""
    reason = _without_git(root)
    if reason:
        return Unversioned(reason)
    if not (root / ".dvc" / "config").is_file():
        return Unversioned(f"{root} is no DVC repository yet; a run makes it one")
    return Versions(root)


def prepare(plan: Plan, stages: Sequence[Stage]) -> Versions | Unversioned:
    """The version history, made ready for a run: DVC set up without telemetry, dvc.yaml and .gitignore up to date.

    Where ``dvc repro`` itself carries out the run, dvc.yaml is left alone.
    """
    root = plan.workspace.root
    reason = _without_git(root)
    if reason:
        return Unversioned(reason)
    _ignore(root)
    if not (root / ".dvc" / "config").is_file():
        _initialise(root)
    _settle(root)
    text = dvc_yaml(Outline.of(plan, stages))
    path = root / "dvc.yaml"
    if not _in_repro() and (not path.is_file() or path.read_text() != text):
        with whole_file(path) as beside:
            beside.write_text(text)
    return Versions(root)


def _without_git(root: Path) -> str | None:
    """Why there is no git history for ``root``, or None if there is."""
    try:
        inside = _asked(root, "rev-parse", "--is-inside-work-tree")
    except FileNotFoundError:
        return "git is not installed; install it, and releases will have a history"
    if inside != "true":
        return f"{root} is in no git repository; 'git init' there gives releases a history"
    if _asked(root, "check-ignore", "-q", "dvc.yaml") is not None:
        return f"git ignores {root}; a workspace that git sees gives releases a history"
    return None


def _ignore(root: Path) -> None:
    """Let git ignore the data of a run. ``dvc repro`` writes such lines and DVC's commit does not; without them raw
    rows would show up as untracked files."""
    missing = [entry for entry in IGNORED if _asked(root, "check-ignore", "-q", "--no-index", _example(entry)) is None]
    if missing:
        path = root / ".gitignore"
        before = path.read_text() if path.is_file() else ""
        gap = "" if before.endswith("\n") or not before else "\n"
        with whole_file(path) as beside:
            beside.write_text(before + gap + "".join(f"{entry}\n" for entry in missing))


def _example(entry: str) -> str:
    """A path that the line ``entry`` of a .gitignore would ignore."""
    return entry.lstrip("/") + ("any" if entry.endswith("/") else "")


def _initialise(root: Path) -> None:
    from dvc.repo import Repo

    with _dvc(root):
        Repo.init(str(root), subdir=_top(root) != root.resolve()).close()


def _top(root: Path) -> Path:
    """The root of the git repository that ``root`` lies in."""
    return Path(_git(root, "rev-parse", "--show-toplevel")).resolve()


def _settle(root: Path) -> None:
    """Telemetry and the look for updates off, and a vault, for all who use this repository, unless it has its own."""
    from dvc.config import Config
    from dvc.config_schema import RelPath

    with _dvc(root):
        config = Config(str(root / ".dvc"), validate=False)
        said = config.load_one("repo")
        missing = {key: False for key in ("analytics", "check_update") if key not in said["core"]}
        vault = {} if VAULT in said["remote"] else {VAULT: {"url": RelPath(root / VAULT_AT_HOME)}}
        if missing or vault:
            with config.edit("repo") as settings:
                settings["core"].update(missing)
                settings["remote"].update(vault)


def _in_repro() -> bool:
    return "DVC_STAGE" in os.environ


def tag_of(name: str, number: int) -> str:
    """The git tag of a release."""
    return f"{name}@v{number}"


@dataclass(frozen=True)
class Versions:
    """The version history of the workspace at ``root``."""

    root: Path

    def record(self, stage: Stage) -> None:
        """Record the outputs of ``stage`` in dvc.lock and DVC's cache, waiting for whoever holds DVC's lock.

        Within ``dvc repro`` DVC does this itself when the stage ends.
        """
        workspace = Workspace(self.root)
        blind(stage.writes(workspace), workspace)
        if _in_repro():
            return
        with _repository(self.root) as repo:
            repo.commit(stage.name, force=True)

    def recorded(self, stage: Stage) -> bool:
        """Whether dvc.lock knows a result of ``stage``; not so if the stage was done before there was a history."""
        path = self.root / "dvc.lock"
        return path.is_file() and stage.name in (yaml.safe_load(path.read_text()) or {}).get("stages", {})

    def tagged(self, name: str, number: int) -> bool:
        """Whether the version history has this release."""
        return _asked(self.root, "rev-parse", "--verify", "-q", f"refs/tags/{tag_of(name, number)}") is not None

    def tag_release(self, plan: Plan, number: int) -> str | None:
        """Tag ``<name>@v<number>``: HEAD's tree with the present spec, contract, dvc.yaml and dvc.lock. Nothing moves.

        A tag that holds the same tree already is left as it is. Raises StateError if it holds another or dvc.lock is
        missing, SpecError if the tree would make private data public. Within ``dvc repro``, which writes dvc.lock only
        afterwards, nothing is tagged and None returned; the next run of the pipeline does it.
        """
        if _in_repro():
            return None
        tag = tag_of(plan.spec.name, number)
        tree = self._tree(self._release_files(plan))
        before = _asked(self.root, "rev-parse", "--verify", "-q", f"refs/tags/{tag}^{{tree}}")
        if before is None:
            self._tag(tag, tree)
        elif before != tree:
            remedy = "published versions are never replaced; release the next"
            raise StateError(Fault(tag, "is a tag of something else", remedy))
        return tag

    def _release_files(self, plan: Plan) -> list[str]:
        if not (self.root / "dvc.lock").is_file():
            raise StateError(Fault("dvc.lock", "no such file", "run the pipeline; every stage is recorded in it"))
        named = [plan.path.name, *Outline.of(plan, ()).contract]
        ours = ["dvc.yaml", "dvc.lock", ".dvcignore", ".gitignore", *(f".dvc/{name}" for name in PUBLIC_DVC)]
        return [path for path in [*named, *ours] if (self.root / path).is_file()]

    def _tree(self, files: list[str]) -> str:
        """HEAD's tree with ``files`` as they now are, built in an index of its own."""
        with tempfile.TemporaryDirectory(prefix="parquetry-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if _asked(self.root, "rev-parse", "--verify", "-q", "HEAD") is not None:
                _git(self.root, "read-tree", "HEAD", env=index)
            _git(self.root, "update-index", "--add", "--", *files, env=index)
            tracked = _git(self.root, "ls-files", "-z", env=index).split("\0")
            refuse_public([path for path in tracked if path], "the git repository")
            return _git(self.root, "write-tree", env=index)

    def _tag(self, tag: str, tree: str) -> None:
        head = _asked(self.root, "rev-parse", "--verify", "-q", "HEAD")
        revision, modified = code_revision(Path(__file__).parent.parent)
        code = (revision or "in no git repository") + (", with uncommitted changes" if modified else "")
        message = f"Release {tag}\n\nCode: {code}\n"
        identity = self._identity()
        commit = _git(self.root, "commit-tree", tree, *(["-p", head] if head else []), "-m", message, env=identity)
        _git(self.root, "tag", "--annotate", "--no-sign", "-m", message, tag, commit, env=identity)

    def _identity(self) -> dict[str, str]:
        return {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in NOBODY.items()
            if f"GIT_{role}_{key}" not in os.environ and _asked(self.root, "config", f"user.{key.lower()}") is None
        }

    def push(self, remote: str) -> int:
        """Send the present version's files to a DVC remote; how many were new there.

        To ``vault`` go the private outputs, to any other remote all others. Raises SpecError if the remote is not
        configured, is the vault under another name, or would be sent something private.
        """
        with _repository(self.root) as repo:
            self._refuse_remote(remote, repo.config["remote"])
            mine = (VAULT,) if remote == VAULT else (remote, None)
            outs = [out for out in repo.index.outs if out.can_push and out.remote in mine]
            if remote != VAULT:
                paths = [Path(out.fs_path).relative_to(self.root.resolve()).as_posix() for out in outs]
                refuse_public(paths, f"the remote '{remote}'")
            stages = sorted({out.stage.addressing for out in outs})
            return int(repo.push(targets=stages, remote=remote)) if stages else 0

    def _refuse_remote(self, remote: str, known: Mapping[str, Mapping[str, Any]]) -> None:
        if remote not in known:
            remedy = f"{nearest(remote, list(known))}; 'dvc remote add' adds one"
            raise SpecError(Fault(remote, "no such DVC remote", remedy))
        if remote != VAULT and known.get(VAULT, {}).get("url") == known[remote]["url"]:
            remedy = "give public and private files places of their own"
            raise SpecError(Fault(remote, f"is the same place as '{VAULT}'", remedy))

    def checkout(self, tag: str, into: Path) -> None:
        """Everything that a release was made from, in the new folder ``into``: a clone at ``tag`` with DVC's files.

        The files come from this workspace's cache, or from the remotes that are configured here. Raises StateError if
        there is no such tag, ``into`` exists, or files are nowhere to be found.
        """
        from dvc.exceptions import CheckoutError

        if _asked(self.root, "rev-parse", "--verify", "-q", f"refs/tags/{tag}") is None:
            tags = _git(self.root, "tag", "--list", "*@v*").split()
            remedy = nearest(tag, tags) if tags else "nothing has been released here"
            raise StateError(Fault(tag, "no such release", remedy))
        if into.exists():
            raise StateError(Fault(str(into), "exists already", "name a new folder"))
        top = _top(self.root)
        into = into.resolve()
        _git(self.root, "clone", "-q", "--no-checkout", str(top), str(into))
        _git(into, "checkout", "-q", "--detach", f"refs/tags/{tag}")
        with _repository(self.root) as here:
            default = {key: value for key, value in here.config["core"].items() if key == "remote"}
            config = {"cache": {"dir": here.cache.local_cache_dir}, "remote": here.config["remote"], "core": default}
        with _repository(into / self.root.resolve().relative_to(top), config) as there:
            try:
                there.checkout()
            except CheckoutError:
                there.pull()


@contextmanager
def _repository(root: Path, config: dict[str, Any] | None = None) -> Iterator[Repo]:
    """DVC at ``root``; ``config`` is laid over what its files say. Whoever holds its lock is waited for.

    The process works at ``root`` meanwhile: DVC looks for stages, and makes entries of its cache of runs, from there.
    """
    from dvc.repo import Repo

    with _dvc(root), chdir(root):
        repo = Repo(config=config, _wait_for_lock=True)
        try:
            yield repo
        finally:
            repo.close()


@contextmanager
def _dvc(root: Path) -> Iterator[None]:
    """Within it DVC neither prints nor shows progress, and its refusals are StateErrors without its words, which may
    hold hashes of private files."""
    from dvc.exceptions import DvcException

    log = logging.getLogger("dvc")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    except DvcException as error:
        found = f"DVC refused ({type(error).__name__})"
        raise StateError(Fault(str(root), found, "run 'dvc status -v' there to see why")) from None
    finally:
        log.setLevel(before)


def code_revision(root: Path) -> tuple[str | None, bool]:
    """The git revision of the code at ``root``, and whether any of it differs; (None, False) outside git."""
    try:
        revision = _asked(root, "rev-parse", "--verify", "-q", "HEAD")
    except FileNotFoundError:
        revision = None
    if revision is None:
        return None, False
    return revision, bool(_git(root, "status", "--porcelain", "--", *CODE))


def exposed(path: Path) -> Literal["tracked", "untracked"] | None:
    """How git sees a file, a folder or a pattern that it does not ignore; None where it ignores it or is not there.

    What is untracked and not ignored, the next ``git add .`` takes along.
    """
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)
    literal = ["--literal-pathspecs"] if path.exists() else []
    try:
        listed = _asked(folder, *literal, "ls-files", "-t", "--cached", "--others", "--exclude-standard", "--", name)
    except FileNotFoundError:
        return None
    if not listed:
        return None
    return "tracked" if any(not line.startswith("?") for line in listed.splitlines()) else "untracked"


def package_versions(names: Iterable[str]) -> dict[str, str | None]:
    """The installed version of each package, None where it is not installed."""
    return {name: _installed(name) for name in names}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _git(root: Path, *words: str, env: Mapping[str, str] | None = None) -> str:
    """What git answers; StateError if it refuses."""
    done = _run_git(root, words, env or {})
    if done.returncode:
        said = [*done.stderr.strip().splitlines(), "no reason given"][0]
        raise StateError(Fault(str(root), f"git {words[0]} refused: {said}", "see 'git status' there"))
    return done.stdout.rstrip("\n")


def _asked(root: Path, *words: str) -> str | None:
    """What git answers, or None where it says no."""
    done = _run_git(root, words, {})
    return None if done.returncode else done.stdout.rstrip("\n")


def _run_git(root: Path, words: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """git at ``root`` and nowhere else: variables that point at another repository (as within a hook) are left out."""
    own = {key: value for key, value in os.environ.items() if key not in REPOSITORY_VARIABLES}
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, env={**own, **env}, capture_output=True, text=True, check=False)
