"""Texts from templates: reports, data cards, drafts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )


def render(template: str, **said: Any) -> str:
    """The text of ``template``; a name that it uses and is not given is an error. HTML is escaped."""
    return _environment().get_template(template).render(**said)
