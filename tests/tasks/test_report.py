"""Reports: one page without network, the same bytes for the same audit, names escaped, figures rounded."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from crowd import COLUMNS, TWO_PARTS, cells, crowd, evidence, shuffled

from models.auditing import Audit, audit
from models.evidence import Evidence
from models.finding import Finding, Interval, Override
from models.ledger import Standing
from models.measures.marginals import Marginals
from models.paper import PaperColumn
from models.partition import Cluster, Clustering, Part, Partition
from models.policy import Policy
from models.portrait import portrait
from models.randomness import Seed
from models.schema import Column
from models.table import Table, digest
from models.validation import Check, Validation
from tasks.report import WIDEST_MAP, Report, render_html, render_json, render_markdown, summary

TRAIN, HOLDOUT, FRESH = crowd(200, 1), crowd(150, 2), crowd(200, 3)
CHECKS = Validation(
    checks=(
        Check(column="age", check="bounds", source="schema", passed=True, rows_failed=0),
        Check(column=None, check="mean", source="user", passed=False, found="the mean lies outside"),
    )
)


def report(synthetic=FRESH, name="people", **more):
    case = evidence(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS)
    found = audit(case, Policy.of({}), Seed.of(1), training=digest(TRAIN))
    return Report(
        name,
        found,
        TWO_PARTS,
        {"a": "cart", "b": "marginal"},
        {"kind": "shuffled", "proposed": 12345},
        CHECKS,
        portrait(case, 10),
        **more,
    )


@pytest.fixture(scope="module")
def passed():
    return report()


@pytest.fixture(scope="module")
def failed():
    return report(shuffled(TRAIN))


class Tags(HTMLParser):
    VOID = ("meta", "br", "col", "link", "img", "input", "hr")

    def __init__(self):
        super().__init__()
        self.open, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_needs_nothing_from_elsewhere(failed):
    page = render_html(failed)
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert all(value.startswith("#") for key, value in tags.attributes if key in ("href", "src", "xlink:href", "data"))
    assert not re.search(r"https?:|@import|url\(|<script|<link", page)


def test_the_first_screen_says_verdict_reason_and_rows(failed):
    head = render_html(failed).split('<section id="checks">')[0]
    assert "Failed" in head
    assert failed.audit.reason in head
    assert ">200<" in head
    assert ">150<" in head


@pytest.mark.parametrize("render", [render_html, render_markdown, render_json])
def test_the_same_audit_makes_the_same_bytes(render, passed):
    assert render(passed) == render(report())


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_every_finding_and_what_cannot_be_said_is_told(render, failed):
    text = render(failed).replace("\\", "")
    for finding in failed.audit.findings:
        assert finding.title in text
    assert "What this audit cannot say" in text
    assert "No differential privacy holds for the table from end to end" in text


def test_json_has_a_version_the_verdict_and_rounded_figures(failed):
    said = json.loads(render_json(failed))
    assert said["report_version"] == 1
    assert said["verdict"] == "fail"
    assert said["reason"] == failed.audit.reason
    assert said["rows"] == {"training": 200, "holdout": 150, "synthetic": 200}
    figures = [finding[key] for finding in said["findings"] for key in ("shown", "estimate", "control", "low", "high")]
    assert all(figure is None or figure == round(figure, 4) for figure in figures)


def test_an_endless_interval_is_null_in_json_and_absent_in_html():
    wide = Interval(low=float("-inf"), high=float("inf"))
    endless = Finding(measure="m", name="N", question="?", group="linking", estimate=0.5, n=1, limit=1, interval=wide)
    only = Audit(findings=(endless,), training_rows=1, holdout_rows=1, synthetic_rows=1, columns=1)
    told = Report("n", only, TWO_PARTS)
    assert json.loads(render_json(told))["findings"][0]["high"] is None
    assert "-inf" not in render_html(told)
    assert ">inf" not in render_html(told)


def test_the_summary_is_text_with_the_verdict_last(failed):
    first = next(row for row in summary(json.loads(render_json(failed))) if row["check"] == "Exact copies")
    assert first["synthetic"] == "100.00 %"
    assert first["judged [95 %]"].startswith("100.00 % [")
    assert list(first)[-1] == "verdict"
    assert first["verdict"] == "fail"


def test_the_summary_holds_what_decides_and_the_report_everything(passed):
    said = json.loads(render_json(passed))
    gated = {finding["title"] for finding in said["findings"] if finding["limit"] is not None}
    assert {row["check"] for row in summary(said)} == gated < {finding["title"] for finding in said["findings"]}


def test_every_key_of_the_json_is_documented_and_no_other(passed):
    text = (Path(__file__).parents[2] / "docs" / "audit-report.md").read_text(encoding="utf-8")
    documented = [set(re.findall("`([a-z_]+)`", "".join(re.findall(r"^\| (`.*?) \|", part, re.MULTILINE))))
                  for part in text.split("A finding:")]  # fmt: skip
    said = json.loads(render_json(passed))
    assert documented == [set(said), set(said["findings"][0])]


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_what_an_attacker_could_do_is_answered_first(passed, failed, render):
    told = render(failed)
    for question in ("Can somebody pick a real person", "Can somebody tell that a person", "Can somebody learn"):
        assert told.index(question) < told.index("Exact copies</b>" if render is render_html else "| Exact copies")
    assert "Yes. " in told
    assert "Yes. " not in render(passed)


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_how_often_the_data_set_was_audited_is_told(passed, render):
    assert "how often this table has been audited is not known" in render(passed)
    told = render(replace(passed, audits=Standing(number=3, of_this_table=2, withheld=1, seeds=2)))
    assert "2 audits of this data set came before this one" in told


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_who_overrode_a_check_and_why_is_told(failed, render):
    decided = Override(check="Exact copies", by="The data board", reason="the rows are public already")
    findings = [
        finding.model_copy(update={"override": decided} if finding.name == "Exact copies" else {})
        for finding in failed.audit.findings
    ]
    told = render(replace(failed, audit=failed.audit.model_copy(update={"findings": tuple(findings)})))
    assert re.search("verridden by The data board.*the rows are public already", told)


def test_the_picture_has_an_axis_for_each_score(passed):
    said = json.loads(render_json(passed))
    assert len(said["radar"]["axes"]) == len(said["radar"]["scores"]) >= 3
    drawn = render_html(passed).split('class="radar"')[1].split("</svg>")[0]
    assert drawn.count("<text ") == len(said["radar"]["axes"])


def test_the_maps_show_real_held_out_and_synthetic_rows_and_how_they_differ(passed):
    figures = re.findall("<figcaption>(.*?)</figcaption>", render_html(passed))
    assert figures == ["real rows", "held-out rows", "synthetic rows", "difference of real and synthetic"]
    without = replace(passed.portrait, holdout=())
    assert "<figcaption>held-out rows" not in render_html(replace(passed, portrait=without))


def test_published_columns_stand_beside_corrected_ones(passed):
    column = PaperColumn("median_DCR", 1.0, 0.0, "blind to a copy in the same order", "1", "On a sample.")
    told = render_html(replace(passed, paper=(column, column)))
    assert "blind to a copy in the same order" in told
    assert told.count("On a sample.") == 1
    assert "SynthEval" not in render_html(passed)


def test_names_are_escaped_wherever_they_are_shown():
    bad = "<b>|x`_"
    columns = (COLUMNS[0].model_copy(update={"name": bad}), *COLUMNS[1:])
    tables = [Table(columns, table.values) for table in (TRAIN, HOLDOUT, FRESH)]
    parts = (Part(name="<i>", columns=(bad,)), Part(name="b", columns=tuple(column.name for column in columns[1:])))
    part = Partition(parts=parts, reason="<u>")
    case = Evidence(*tables, partition=part)
    found = audit(case, Policy.of({}), Seed.of(1), training=digest(tables[0]))
    told = Report("<s>", found, part, {"<i>": "<k>"}, {"<f>": "<v>"}, None, portrait(case, 10))
    page = render_html(told)
    for name in ("<b>|", "<i>", "<u>", "<s>", "<k>", "<f>", "<v>"):
        assert name not in page
        assert name not in render_markdown(told)
    assert "&lt;b&gt;|x`_" in page
    assert "\\|x\\`\\_" in render_markdown(told)


def test_no_training_value_is_told():
    canary = TRAIN.values.copy()
    canary[0, 1] = 137_137.13
    train = cells(TRAIN, canary)
    case = evidence(FRESH, train=train, holdout=HOLDOUT, partition=TWO_PARTS)
    found = audit(case, Policy.of({}), Seed.of(1), training=digest(train))
    told = Report("people", found, TWO_PARTS, portrait=portrait(case, 10))
    for render in (render_html, render_json, render_markdown):
        assert not re.search(r"137[,_]?137", render(told))


def test_facts_are_written_as_a_person_would_and_rounded(passed):
    told = Report("n", passed.audit, TWO_PARTS, join={"informed": True, "auc": 0.9670198, "proposed": 12345})
    for text in (render_html(told), render_markdown(told)):
        assert "yes" in text
        assert "0.967" in text
        assert "12,345" in text
        assert "By hand." in text
    assert json.loads(render_json(told))["join"] == {"informed": True, "auc": 0.967, "proposed": 12345}


def test_facts_of_many_steps_are_listed_and_rounded(passed):
    steps = [{"informed": True, "log_loss": 0.1234567}, {"informed": False}]
    facts = {"sweeps": [1, 1000], "acceptance": [0.58249, 0.0], "steps": steps}
    told = Report("n", passed.audit, TWO_PARTS, join=facts)
    for text in (render_html(told), render_markdown(told)):
        assert "1, 1,000" in text
        assert "0.582, 0.0" in text
        assert "informed yes, log loss 0.123; informed no" in text
    assert json.loads(render_json(told))["join"]["steps"] == [
        {"informed": True, "log_loss": 0.123},
        {"informed": False},
    ]


def test_which_part_was_drawn_given_which_is_said_in_words(passed):
    conditioned = [{"part": "b", "given": ["a"]}, {"part": "d", "given": ["a", "b", "c"]}]
    told = Report("n", passed.audit, TWO_PARTS, join={"kind": "conditional", "conditioned": conditioned})
    assert "<dt>parts drawn given others</dt><dd>b given a; d given a, b and c</dd>" in render_html(told)
    assert "- parts drawn given others: b given a; d given a, b and c" in render_markdown(told)
    assert "conditioned" not in render_html(told)
    assert json.loads(render_json(told))["join"]["conditioned"] == conditioned


def test_contract_checks_that_failed_are_named(passed):
    for text in (render_html(passed), render_markdown(passed)):
        assert "the mean lies outside" in text
        assert "whole table" in text


def test_a_report_may_hold_an_audit_alone():
    ages = [table.select(["age"]) for table in (TRAIN, HOLDOUT.take(slice(0, 0)), FRESH)]
    case = Evidence(*ages, partition=Partition(parts=(Part(name="all", columns=("age",)),), reason="one column"))
    found = audit(case, Policy(measures={"marginals": Marginals()}), Seed.of(1), training=digest(ages[0]))
    told = Report("one", found, case.partition, portrait=portrait(case, 10))
    page = render_html(told)
    assert "Pairs of columns" not in page
    assert "real rows held out</span>" not in page
    assert "# Audit of one" in render_markdown(told)


def test_maps_of_wide_tables_show_the_columns_that_differ_most():
    wide = tuple(Column(name=f"c{j}", kind="integer", dtype="int64", bounds=(0, 9)) for j in range(WIDEST_MAP + 20))
    tables = [Table(wide, np.random.default_rng(s).integers(0, 10, (60, len(wide))).astype(float)) for s in range(3)]
    one = Partition(parts=(Part(name="all", columns=tuple(c.name for c in wide)),), reason="")
    case = Evidence(*tables, partition=one)
    found = audit(case, Policy(measures={"marginals": Marginals()}), Seed.of(1), training=digest(tables[0]))
    page = render_html(Report("wide", found, one, portrait=portrait(case, 10)))
    assert f"{WIDEST_MAP} of {WIDEST_MAP + 20} columns" in page.replace("\n", " ")
    assert len(page) < 2_000_000


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_clusters_of_rows_are_told_by_share_generator_and_levels(passed, render):
    clusters = Cluster(name="cluster-1", share=0.714, what="sex: <f>"), Cluster(name="cluster-2", share=0.286)
    rows = Clustering(clusters=clusters, columns=TRAIN.names, reason="divided by 'sex'")
    told = render(replace(passed, partition=rows, generators={"cluster-1": "cart", "cluster-2": "copula"}))
    assert "2 clusters of rows" in told
    assert "about 71 %; sex: &lt;f&gt;" in told if render is render_html else "about 71 %; sex: " in told
    assert "about 29 %" in told
    assert "copula" in told


def test_the_json_has_clusters_or_parts_and_says_which(passed):
    rows = Clustering(clusters=(Cluster(name="cluster-1", share=1.0),), columns=TRAIN.names, reason="all alike")
    said = json.loads(render_json(replace(passed, partition=rows)))
    assert (said["partition"]["by"], said["parts"]) == ("rows", [])
    assert said["clusters"] == [{"name": "cluster-1", "share": 1.0, "what": "", "generator": None}]
    said = json.loads(render_json(passed))
    assert (said["partition"]["by"], said["clusters"], len(said["parts"])) == ("columns", [], 2)
