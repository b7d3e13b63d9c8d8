"""Texts from templates: reports, data cards, drafts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from tasks.yaml_files import yaml_scalar

MARKUP = re.compile(r"([\\|*_`\[\]])")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html.j2", "svg.j2"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = markdown_cell
    environment.filters["yaml"] = yaml_scalar
    return environment


def render(template: str, **said: Any) -> str:
    """The text of ``template``; a name that it uses and is not given is an error. HTML and SVG are escaped.

    The filter ``cell`` makes text safe in a Markdown table, ``yaml`` writes one value as YAML.
    """
    return _environment().get_template(template).render(**said)


def markdown_cell(text: object) -> str:
    """Text for a cell of a Markdown table: on one line, without markup, HTML or a column's border."""
    return MARKUP.sub(r"\\\1", " ".join(str(text).split())).replace("<", "&lt;")
