"""YAML with the scalars of version 1.2, read and written alike.

In YAML 1.1, which the library speaks by itself, a level called ``No`` is a boolean, ``07:30`` is a number, and what is
written without quotes may come back as something else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import yaml

from models.errors import Fault, SpecError

SCALARS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    (
        "float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$|^[-+]?\.(?:inf|nan)$",
        "-+.0123456789",
    ),
)


class _WrittenTwiceError(yaml.MarkedYAMLError):
    """A key stands twice in one mapping; YAML itself would silently take the last."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for place, key in enumerate(keys):
            if key in keys[:place]:
                raise _WrittenTwiceError(
                    problem=f"the key '{key}' is written twice", problem_mark=node.value[place][0].start_mark
                )
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {}


for _tag, _pattern, _initials in SCALARS:
    for _speaker in (_Loader, _Dumper):
        _speaker.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_initials))


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    """Text without a raw line break, which is written as an escape: indenting or folding lines then changes nothing."""
    plain = text.isprintable() or not text
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _text)


def read_yaml(path: Path, remedy: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises SpecError, with line and column where it cannot be read."""
    try:
        said = yaml.load(path.read_bytes(), Loader=_Loader)
    except FileNotFoundError:
        raise SpecError(Fault(str(path), "no such file or directory", remedy)) from None
    except OSError as error:
        found = (error.strerror or "cannot be read").lower()
        raise SpecError(Fault(str(path), found, "check the path and its permissions")) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        found = error.problem if isinstance(error, _WrittenTwiceError) else "cannot be read as YAML"
        raise SpecError(Fault(str(path), f"{found} at {place}", "correct it")) from None
    if not isinstance(said, dict):
        raise SpecError(Fault(str(path), "holds no mapping of keys to values", remedy))
    return said


def yaml_scalar(value: Any) -> str:
    """One text, number or boolean as YAML on one line, quoted where it would be read as something else."""
    written = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, width=float("inf"))
    return written.removesuffix("\n...\n").removesuffix("\n")


def yaml_text(value: Any) -> str:
    """``value`` as YAML, keys in their order, short lists on one line."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
