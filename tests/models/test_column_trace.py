"""Every released column says what made it and together with which others; what is left out is not even named."""

import pytest

from models.column_trace import traces, treatment
from models.partition import Cluster, Clustering, Part, Partition
from models.schema import Column, Schema
from models.spec import parse_spec

NUMBER = {"kind": "integer", "dtype": "int64", "bounds": [0, 9]}
LEVELS = {"kind": "categorical", "dtype": "string", "levels": ["a"]}
SCHEMA = Schema.model_validate({"columns": [
    {"name": "id", "kind": "identifier", "role": "identifier", "dtype": "string"},
    {"name": "age", **NUMBER}, {"name": "hidden", **NUMBER, "include": False}, {"name": "sex", **LEVELS},
    {"name": "pay", "role": "sensitive", **NUMBER},
]})  # fmt: skip
SPEC = parse_spec({
    "name": "people", "source": {}, "schema": "s.yaml", "join": "shuffled", "generator": "marginal",
    "generators": {"rest": "cart"},
    "partition": {"kind": "given", "parts": {"money": ["age", "pay"], "rest": ["sex"]}},
})  # fmt: skip
PARTS = Part(name="money", columns=("age", "pay")), Part(name="rest", columns=("sex",))
PARTITION = Partition(parts=PARTS, reason="")


def test_released_columns_are_traced_in_the_order_of_the_schema():
    assert [trace.name for trace in traces(SPEC, SCHEMA, PARTITION)] == ["id", "age", "sex", "pay"]


def test_a_trace_names_part_generator_and_the_other_columns_of_the_part():
    found = {trace.name: (trace.part, trace.generator, trace.learned_with) for trace in traces(SPEC, SCHEMA, PARTITION)}
    assert found == {
        "id": (None, None, ()), "age": ("money", "marginal", ("pay",)), "sex": ("rest", "cart", ()),
        "pay": ("money", "marginal", ("age",)),
    }  # fmt: skip


def test_a_trace_repeats_what_the_schema_says_of_the_column():
    pay = traces(SPEC, SCHEMA, PARTITION)[3]
    assert (pay.kind, pay.role, pay.dtype, pay.treatment) == ("integer", "sensitive", "int64", "drawn by a generator")


def test_a_column_of_divided_rows_is_traced_to_the_generators_of_all_clusters():
    clusters = tuple(Cluster(name=f"cluster-{n}", share=share) for n, share in ((1, 0.5), (2, 0.3), (3, 0.2)))
    rows = Clustering(clusters=clusters, columns=("age", "sex", "pay"), reason="")
    spec = SPEC.model_copy(update={"generators": {"cluster-2": SPEC.generators["rest"]}})
    identifier, age, *_ = traces(spec, SCHEMA, rows)
    assert (age.part, age.generator, age.learned_with) == (None, "marginal and cart", ("sex", "pay"))
    assert age.clusters == ("cluster-1", "cluster-2", "cluster-3")
    assert age.how == "3 clusters of rows, generator 'marginal and cart'"
    assert (identifier.clusters, identifier.generator, identifier.how) == ((), None, "")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({**NUMBER}, "drawn by a generator"),
        ({**NUMBER, "nullable": True}, "drawn by a generator, missing values included"),
        ({**NUMBER, "include": False}, "left out of the release"),
        ({"kind": "identifier", "dtype": "string"}, "made anew: no value of the source is used"),
        ({"kind": "constant", "dtype": "string", "levels": ["x"]}, "the one value that all rows share"),
        ({"kind": "constant", "dtype": "string", "levels": [], "nullable": True}, "empty, as in the source"),
        ({"kind": "text", "dtype": "string"}, "refused: free text is not synthesised"),
        ({**LEVELS}, "drawn by a generator"),
        ({**LEVELS, "unlisted": "other", "other": "(rare)"},
         "drawn by a generator; levels that fewer than 7 rows share become one common level"),
        ({**LEVELS, "unlisted": "missing", "nullable": True},
         "drawn by a generator, missing values included; levels that fewer than 7 rows share become missing"),
    ],
)  # fmt: skip
def test_a_treatment_says_in_a_sentence_what_the_release_holds(column, said):
    assert treatment(Column.model_validate({"name": "x", **column}), 7) == said
