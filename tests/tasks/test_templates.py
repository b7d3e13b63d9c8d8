"""Templates are told everything they say, and what they are told cannot break out of its place."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from tasks import templates
from tasks.templates import markdown_cell, render

FOLDER = Path(templates.__file__).parent / "templates"


def spec_yaml(**said):
    usual = {"name": "people", "source": {"kind": "csv"}, "parts": 1, "entity": None, "join": "shuffled"}
    kinds = dict.fromkeys(("partitioners", "row_partitioners", "generators", "joins", "measures"), ("one", "two"))
    return render("spec.yaml.j2", **{**usual, **kinds, **said})


def test_what_is_said_stands_in_the_text():
    assert "# kinds: one, two\n" in spec_yaml()
    assert "\nname: people\n" in spec_yaml()


@pytest.mark.parametrize("template", sorted(path.name for path in FOLDER.iterdir()))
def test_a_name_that_was_not_given_is_an_error(template):
    with pytest.raises(UndefinedError):
        render(template)


def test_html_is_escaped_and_other_texts_are_not(tmp_path, monkeypatch):
    for name in ("page.html.j2", "page.md.j2"):
        (tmp_path / name).write_text("{{ word }}")
    environment = templates._environment()
    monkeypatch.setattr(environment.loader, "searchpath", [str(tmp_path)])
    assert render("page.html.j2", word="<b>&") == "&lt;b&gt;&amp;"
    assert render("page.md.j2", word="<b>&") == "<b>&"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("plain", "plain"), ("a|b", "a\\|b"), ("a\\|b", "a\\\\\\|b"), ("two\nlines", "two lines"), ("*_`", "\\*\\_\\`"),
        ("[x](y)", "\\[x\\](y)"), ("<script>", "&lt;script>"), (7, "7"), ("a\u2028\r\nb", "a b"),
    ],
)  # fmt: skip
def test_a_cell_of_a_markdown_table_is_one_line_without_markup(text, cell):
    assert markdown_cell(text) == cell


def test_a_value_in_yaml_is_quoted_where_it_must_be():
    assert "name: 'null'\n" in spec_yaml(name="null")
    assert '  path: "a\\nb"\n' in spec_yaml(source={"path": "a\nb"})
    assert "  entity: '# no'   # whose row" in spec_yaml(entity="# no")
