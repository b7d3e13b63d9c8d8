"""Adding a kind is adding one file: a ``Catalog`` finds it by its file name and imports it when it is asked for."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, PlainValidator, ValidationError

from models.errors import Fault, SpecError, nearest

Settings = TypeVar("Settings", bound=BaseModel)


class Catalog(Generic[Settings]):
    """The kinds of one family: package ``package`` holds one module per kind, each with one subclass of ``base``.

    A kind's name is its module's name, without a trailing underscore where a standard-library name had to be avoided
    (``random_.py`` holds ``random``). A module that cannot be imported fails loudly, and only when it is asked for.
    """

    def __init__(self, package: str, base: type[Settings]):
        self.package = package
        self.base = base

    @property
    def family(self) -> str:
        return self.base.__name__.lower()

    def kinds(self) -> tuple[str, ...]:
        """All kinds, sorted, by a look at the folder; nothing is imported."""
        path = import_module(self.package).__path__
        return tuple(sorted(module.name.rstrip("_") for module in pkgutil.iter_modules(path)))

    def settings(self, kind: str) -> type[Settings]:
        """The settings class of ``kind``; raises SpecError naming the nearest kind when there is none."""
        if kind not in self.kinds():
            raise SpecError(Fault(self.family, f"unknown kind '{kind}'", nearest(kind, self.kinds())))
        modules = {
            module.name.rstrip("_"): module.name
            for module in pkgutil.iter_modules(import_module(self.package).__path__)
        }
        module = import_module(f"{self.package}.{modules[kind]}")
        found = [
            thing
            for thing in vars(module).values()
            if isinstance(thing, type) and issubclass(thing, self.base) and thing.__module__ == module.__name__
        ]
        if len(found) != 1:
            raise TypeError(f"{module.__name__} must define one {self.base.__name__}, not {len(found)}")
        return found[0]

    def build(self, value: object) -> Settings:
        """Settings from what a spec says: a kind's name, a mapping with ``kind``, or settings already built.

        Raises SpecError with every fault that the mapping has.
        """
        if isinstance(value, self.base):
            return value
        said: Mapping[str, Any] = (
            {"kind": value} if isinstance(value, str) else value if isinstance(value, Mapping) else {}
        )
        if not isinstance(said.get("kind"), str):
            raise SpecError(Fault(self.family, "no kind is named", f"set 'kind' to one of: {', '.join(self.kinds())}"))
        settings = self.settings(said["kind"])
        try:
            return settings.model_validate(dict(said))
        except ValidationError as error:
            raise SpecError(faults_of(error, settings, f"{self.family} '{said['kind']}'")) from None

    def json_schema(self) -> dict[str, Any]:
        """A JSON Schema that accepts any kind by name or by settings, for editors (imports every kind)."""
        options: list[dict[str, Any]] = [{"type": "string", "enum": list(self.kinds())}]
        definitions: dict[str, Any] = {}
        for kind in self.kinds():
            settings = self.settings_schema(kind)
            definitions.update(settings.pop("$defs"))
            options.append({**settings, "required": sorted({"kind", *settings.get("required", ())})})
        return {"anyOf": options, "$defs": definitions}

    def settings_schema(self, kind: str) -> dict[str, Any]:
        """The JSON Schema of one kind's settings. Its ``$defs`` have names of their own, so that they may be moved."""
        prefix = f"{self.family}.{kind}."
        schema = self.settings(kind).model_json_schema(ref_template=f"#/$defs/{prefix}{{model}}")
        definitions = {f"{prefix}{name}": said for name, said in schema.pop("$defs", {}).items()}
        return {**schema, "$defs": definitions}


class NestedFaultsError(ValueError):
    """Faults of a kind's settings on their way through pydantic, which passes on nothing but ValueErrors."""

    def __init__(self, error: SpecError):
        self.faults = error.faults
        super().__init__(str(error))


def chosen(catalog: Catalog[Any]) -> Any:
    """The annotation of a field that holds one kind of ``catalog``: ``Annotated[Generator, chosen(catalog)]``."""

    def build(value: object) -> object:
        try:
            return catalog.build(value)
        except SpecError as error:
            raise NestedFaultsError(error) from None

    return PlainValidator(build)


def faults_of(error: ValidationError, settings: type[BaseModel], where: str) -> list[Fault]:
    """pydantic's findings as faults: paths instead of values, and for an unknown key the nearest valid one."""
    found = error.errors(include_input=False, include_url=False)
    return [fault for one in found for fault in _faults(one, settings, where)]


def _faults(found: Any, settings: type[BaseModel], where: str) -> list[Fault]:
    path = [str(step) for step in found["loc"]]
    place = ".".join([where, *path]) if where else ".".join(path)
    nested = found.get("ctx", {}).get("error")
    if isinstance(nested, NestedFaultsError):
        return list(nested.faults)
    if found["type"] == "extra_forbidden":
        fields = _fields_at(settings, path[:-1])
        return [Fault(place, "unknown key", nearest(path[-1], fields) if fields else "remove it")]
    if found["type"] == "missing":
        return [Fault(place, "is missing", "add the key")]
    return [Fault(place or "spec", str(nested) if nested is not None else str(found["msg"]))]


def _fields_at(settings: type[BaseModel], path: list[str]) -> list[str]:
    """The valid keys of the model that lies at ``path`` below ``settings``, or none where no model lies."""
    options: list[type[BaseModel]] = [settings]
    for step in path:
        tagged = [option for option in options if step in _tags(option)]
        if len(options) > 1 and tagged:
            options = tagged
            continue
        fields = options[0].model_fields
        field = fields.get(step) or next((f for f in fields.values() if f.alias == step), None)
        if field is None:
            continue
        options = list(_models_in(field.annotation))
        if not options:
            return []
    return [field.alias or name for name, field in options[0].model_fields.items()]


def _tags(option: type[BaseModel]) -> set[object]:
    """How pydantic's paths tell a model of a union from the others."""
    kind = option.model_fields.get("kind")
    return {option.__name__.lower(), kind.default if kind else None}


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that a value may be, or hold, by its annotation, in whichever lists and unions they stand."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
