"""The audit's report: one HTML page that needs no network, the same as Markdown, and the same as versioned JSON.

Reports hold no time and no run number, so the same audit makes the same bytes. Figures are rounded as ``Unit`` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import cos, isfinite, pi, sin
from typing import Any

from models.auditing import Audit
from models.course import Course
from models.facts import rounded
from models.finding import Finding, Group, Unit, Verdict, overall
from models.ledger import Standing
from models.paper import PaperColumn
from models.partition import Clustering, Partition
from models.policy import Preset
from models.portrait import Portrait
from models.radar import radar
from models.validation import Validation
from tasks.curves import picture as curves_of
from tasks.templates import markdown_cell, render

REPORT_VERSION = 1
UNKNOWN_HISTORY = "No ledger was kept: how often this table has been audited is not known."
WIDEST_MAP = 40
"""A map of associations shows so many columns at most, those with the largest differences."""

MAY = {
    Preset.PUBLIC: "The rows may be published.",
    Preset.TRUSTED_PARTNER: "The rows may be given to a trusted partner.",
    Preset.INTERNAL: "The rows may be used in the holder's own house.",
}
MAY_NOT = {
    Verdict.FAIL: "The rows are not to be published.",
    Verdict.INCONCLUSIVE: "The rows are not to be published: what was not shown to be safe is withheld.",
    Verdict.INVALID: "The rows are not to be published: the audit itself could not be trusted.",
}
WORDS = {
    Verdict.PASS: "Passed",
    Verdict.FAIL: "Failed",
    Verdict.INCONCLUSIVE: "Not decided",
    Verdict.INVALID: "Not valid",
}
GROUPS = {
    Group.SETUP: ("Set-up", "Can the audit itself be trusted: are the held-out rows like the others, and unseen?"),
    Group.SINGLING_OUT: (
        "Singling out",
        "Can somebody pick a real person out of the table, or meet one in it as they are?",
    ),
    Group.LINKING: (
        "Linking",
        "Can somebody tell that a person they know was in the data, or join what they know to a row?",
    ),
    Group.INFERENCE: ("Inference", "Can somebody learn from the table what a person they know keeps to themselves?"),
    Group.FIDELITY: ("Fidelity", "Do the columns, and pairs of columns, look like the real ones?"),
    Group.USEFULNESS: ("Usefulness", "Do conclusions drawn from the table hold for real people?"),
}
ATTACKS = (Group.SINGLING_OUT, Group.LINKING, Group.INFERENCE)
CANNOT_SAY = (
    "It is no proof of safety. It ran the attacks listed above and no others. Someone who knows the generator's "
    "settings, or who can train copies of it, may find more than distances between rows tell. Linking with registers "
    "kept elsewhere was not tried.",
    "Its figures are about groups. A person who is unlike everybody else may be at a higher risk than they say.",
    "It cannot see a leak that is smaller than the intervals shown. More held-out rows make the intervals narrower.",
    "No differential privacy holds for the table from end to end: whatever joins the parts, and any split of columns "
    "or rows that looks at them, read real rows without noise. All parts of columns describe the same people; if their "
    "generators have privacy budgets, these add up.",
    "It is about one release. Several releases about the same people tell more together than each of them alone.",
    "Its limits are the project's policy. Official precedents exist for how few people a published cell may show (10 "
    "or 11, a chance of 0.09), and the pictures keep to the schema's k; for attacks on synthetic rows there is none.",
)


@dataclass(frozen=True)
class Report:
    """What a report tells: an audit, and how the audited table came about.

    ``generators`` is the kind of generator by part, ``training`` the course of those that train in steps, ``join``
    plain facts about the join (settings, rows proposed and accepted, ...), ``validation`` what became of the contract's
    checks on the synthetic rows.
    """

    name: str
    audit: Audit
    partition: Partition | Clustering
    generators: Mapping[str, str] = field(default_factory=dict)
    join: Mapping[str, Any] = field(default_factory=dict)
    validation: Validation | None = None
    portrait: Portrait | None = None
    preset: Preset = Preset.PUBLIC
    audits: Standing | None = None
    paper: tuple[PaperColumn, ...] = ()
    training: tuple[Course, ...] = ()


def render_json(report: Report) -> str:
    """The report as JSON. ``report_version`` changes when a key changes its meaning or goes."""
    return json.dumps(_said(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def render_html(report: Report) -> str:
    return render(
        "report.html.j2",
        sources=_sources(report.audit),
        maps=_maps(report.portrait),
        picture=_picture,
        outline=_outline,
        star=_star,
        courses=[(course, curves_of(course)) for course in report.training],
        percent=_percent,
        **_for_readers(report),
    )


def render_markdown(report: Report) -> str:
    return render("report.md.j2", cell=markdown_cell, **_for_readers(report))


def _for_readers(report: Report) -> dict[str, Any]:
    """What both forms of the report are written from."""
    audit = report.audit
    return {
        "said": _said(report),
        "groups": _groups(audit),
        "answers": _answers(audit),
        "word": WORDS[audit.verdict],
        "meaning": MAY_NOT.get(audit.verdict, MAY[report.preset]),
        "cannot_say": CANNOT_SAY,
        "say": _say,
        "joined": _joined(report.join),
        "sentence": _sentence,
    }


def summary(said: Mapping[str, Any]) -> list[dict[str, str]]:
    """The gated findings of a report's JSON as rows of text, for terminals and run pages; the report has all."""
    return [
        {
            "check": finding["title"],
            "synthetic": _say(finding, "shown"),
            "control": _say(finding, "control"),
            "judged [95 %]": _judged(finding),
            "limit": _say(finding, "limit"),
            "verdict": finding["verdict"],
        }
        for finding in said["findings"]
        if finding["limit"] is not None
    ]


def _said(report: Report) -> dict[str, Any]:
    audit, partition = report.audit, report.partition
    return {
        "report_version": REPORT_VERSION,
        "name": report.name,
        "verdict": str(audit.verdict),
        "reason": audit.reason,
        "preset": str(report.preset),
        "audits": report.audits.model_dump() if report.audits else None,
        "history": report.audits.sentence if report.audits else UNKNOWN_HISTORY,
        "worth": audit.worth,
        "rows": {"training": audit.training_rows, "holdout": audit.holdout_rows, "synthetic": audit.synthetic_rows},
        "columns": audit.columns,
        "gated": len(audit.gated),
        "passed": len(audit.having(Verdict.PASS)),
        "findings": [_published(finding) for finding in audit.findings],
        "partition": {
            "by": partition.by,
            "reason": partition.reason,
            "ratio": _rounded(partition.of_columns.ratio, 3),
        },
        **_parts(report),
        "training": [{**course.model_dump(mode="json"), "said": course.said} for course in report.training],
        "join": rounded(report.join),
        "validation": report.validation.model_dump(mode="json")["checks"] if report.validation else None,
        "portrait": asdict(report.portrait) if report.portrait else None,
        "radar": asdict(chart) if (chart := radar(audit.findings)) else None,
        "paper": [
            {**asdict(column), "paper": _rounded(column.paper, 3), "corrected": _rounded(column.corrected, 3)}
            for column in report.paper
        ],
    }


def _parts(report: Report) -> dict[str, Any]:
    """The parts of columns, and the clusters of rows, of which there are none where columns were divided."""
    division, made = report.partition, report.generators
    if isinstance(division, Clustering):
        clusters = [{**cluster.model_dump(), "generator": made.get(cluster.name)} for cluster in division.clusters]
        return {"parts": [], "clusters": clusters}
    parts = [{"name": p.name, "generator": made.get(p.name), "columns": list(p.columns)} for p in division.parts]
    return {"parts": parts, "clusters": []}


def _published(finding: Finding) -> dict[str, Any]:
    """A finding with its figures rounded. ``shown`` is the plain figure of the synthetic rows; where ``excess`` is
    true, the estimate is how far that goes beyond the control.
    """
    low, high = (finding.interval.low, finding.interval.high) if finding.interval else (None, None)
    figures = {
        "shown": finding.estimate if finding.observed is None else finding.observed,
        "control": finding.control,
        "baseline": finding.baseline,
        "estimate": finding.estimate,
        "low": low,
        "high": high,
        "limit": finding.limit,
    }
    return {
        "measure": finding.measure,
        "group": str(finding.group),
        "name": finding.name,
        "where": finding.where,
        "title": finding.title,
        "question": finding.question,
        "unit": str(finding.unit),
        **{name: _rounded(value, finding.unit.decimals) for name, value in figures.items()},
        "planted": _rounded(finding.planted, finding.unit.decimals),
        "excess": finding.observed is not None,
        "precondition": finding.precondition,
        "override": finding.override.model_dump() if finding.override else None,
        "n": finding.n,
        "verdict": None if finding.verdict is None else str(finding.verdict),
        "remark": finding.remark,
        "source": finding.source,
    }


def _rounded(value: float | None, decimals: int) -> float | None:
    return None if value is None or not isfinite(value) else round(value, decimals) + 0.0


def _say(finding: Mapping[str, Any], figure: str) -> str:
    return "–" if finding[figure] is None else Unit(finding["unit"]).say(finding[figure])


def _judged(finding: Mapping[str, Any]) -> str:
    if finding["low"] is None or finding["high"] is None:
        return _say(finding, "estimate")
    return f"{_say(finding, 'estimate')} [{_say(finding, 'low')}, {_say(finding, 'high')}]"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _joined(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts about the join in words."""
    said = {name.replace("_", " "): _plain(value) for name, value in rounded(facts).items() if name != "conditioned"}
    drawn = [f"{each['part']} given {_all_of(each['given'])}" for each in facts.get("conditioned", ())]
    return {**said, "parts drawn given others": "; ".join(drawn)} if drawn else said


def _all_of(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _plain(value: object) -> str:
    """A fact as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_plain(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ("; " if any(isinstance(each, Mapping) for each in value) else ", ").join(map(_plain, value))
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


def _groups(audit: Audit) -> list[dict[str, Any]]:
    """Findings by what they are about; ``first`` marks the first of those that ask the same question."""
    shown = []
    for group, (title, question) in GROUPS.items():
        findings = [_published(finding) for finding in audit.findings if finding.group is group]
        asked: set[str] = set()
        for finding in findings:
            finding["first"] = finding["question"] not in asked
            asked.add(finding["question"])
        if findings:
            shown.append({"id": str(group), "title": title, "question": question, "findings": _by_question(findings)})
    return shown


def _answers(audit: Audit) -> list[dict[str, str]]:
    """What an attacker could do, in the three questions of WP216, each with the answer of its gated checks."""
    return [
        {"id": str(group), "question": GROUPS[group][1], **_answer(asked)}
        for group in ATTACKS
        if (asked := [finding for finding in audit.findings if finding.group is group])
    ]


def _answer(findings: Sequence[Finding]) -> dict[str, str]:
    gated = [finding for finding in findings if finding.gated]
    if not gated:
        return {"verdict": "", "answer": "Reported only: no check of it has a limit."}
    verdict = overall(gated)
    blocking = [f.title for f in gated if f.verdict is verdict and not f.override]
    said = {
        Verdict.PASS: f"No more than chance allows: {len(gated)} of {len(gated)} checks lie within their limits.",
        Verdict.FAIL: f"Yes. {len(blocking)} of {len(gated)} checks failed: {_some(blocking)}.",
        Verdict.INCONCLUSIVE: f"Not shown. {len(blocking)} of {len(gated)} checks stay open: {_some(blocking)}.",
    }
    if verdict is Verdict.PASS and any(finding.override for finding in gated):
        return {"verdict": "pass", "answer": "Accepted by a person's decision, which is told below."}
    return {"verdict": str(verdict), "answer": said[verdict]}


def _some(titles: Sequence[str], most: int = 2) -> str:
    rest = len(titles) - most
    return "; ".join(titles[:most]) + (f"; and {rest} more" if rest > 0 else "")


def _by_question(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    order = list(dict.fromkeys(finding["question"] for finding in findings))
    return sorted(findings, key=lambda finding: order.index(finding["question"]))


def _sources(audit: Audit) -> dict[str, str]:
    return {finding.name: finding.source for finding in audit.findings if finding.source}


def _picture(finding: Mapping[str, Any]) -> dict[str, float] | None:
    """Where a finding's marks lie on a line from 0 to 100, or None where there is no figure.

    ``chance`` is the control; where the estimate is what goes beyond the control, it is zero.
    """
    marks = {
        "estimate": finding["estimate"],
        "low": finding["low"] if finding["low"] is not None else finding["estimate"],
        "high": finding["high"] if finding["high"] is not None else finding["estimate"],
        "limit": finding["limit"],
        "chance": 0.0 if finding["excess"] else finding["control"],
    }
    known = {name: float(value) for name, value in marks.items() if value is not None}
    if "estimate" not in known:
        return None
    least, most = min(known.values()), max(known.values())
    margin = 0.1 * (most - least) or 1.0
    span = most - least + 2 * margin
    return {name: round(100 * (value - least + margin) / span, 2) for name, value in known.items()}


def _outline(marginal: Mapping[str, Any]) -> dict[str, Any]:
    """A histogram's geometry in a box of 240 by 80: bars of real rows, the synthetic rows' outline, held-out marks."""
    bars = marginal["bars"]
    tallest = max((bar[side] for bar in bars for side in ("real", "holdout", "synthetic")), default=0.0) or 1.0
    width = 240 / max(1, len(bars))
    boxes, outline = [], []
    for number, bar in enumerate(bars):
        left = number * width
        tops = {side: round(80 - 76 * bar[side] / tallest, 1) for side in ("real", "holdout", "synthetic")}
        boxes.append({"x": round(left, 1), "width": round(width, 1), **tops, "bar": bar})
        outline += [f"{left:.1f},{tops['synthetic']}", f"{left + width:.1f},{tops['synthetic']}"]
    return {"boxes": boxes, "outline": " ".join(["0,80", *outline, "240,80"]), "tallest": tallest}


def _star(chart: Mapping[str, Any]) -> dict[str, Any]:
    """A radar chart's geometry around the middle of a box of 300 by 220: rings, labelled axes, the scores' polygon."""
    count, middle, reach = len(chart["axes"]), (150.0, 112.0), 78.0
    turns = [2 * pi * number / count - pi / 2 for number in range(count)]

    def at(turn: float, share: float) -> tuple[float, float]:
        return round(middle[0] + reach * share * cos(turn), 1), round(middle[1] + reach * share * sin(turn), 1)

    def polygon(shares: Sequence[float]) -> str:
        return " ".join("{},{}".format(*at(turn, share)) for turn, share in zip(turns, shares, strict=True))

    labels = [
        {"name": name, "score": score, "x": at(turn, 1.14)[0], "y": at(turn, 1.14)[1] + 4, "end": at(turn, 1.0)}
        | {"anchor": "middle" if abs(cos(turn)) < 0.2 else "start" if cos(turn) > 0 else "end"}
        for name, score, turn in zip(chart["axes"], chart["scores"], turns, strict=True)
    ]
    rings = [polygon([share] * count) for share in (0.5, 1.0)]
    return {"middle": middle, "labels": labels, "rings": rings, "shape": polygon(chart["scores"])}


def _maps(portrait: Portrait | None) -> dict[str, Any] | None:
    """Associations of real, held-out and synthetic rows, how real and synthetic differ, and the pairs that do most."""
    if portrait is None or len(portrait.marginals) < 2:
        return None
    names = [marginal.name for marginal in portrait.marginals]
    size = len(names)
    pairs = [(abs(portrait.synthetic[i][j] - portrait.real[i][j]), i, j) for i in range(size) for j in range(i)]
    pairs.sort(key=lambda pair: -pair[0])
    kept = sorted(_widest(pairs))
    real, drawn = portrait.real, portrait.synthetic
    return {
        "names": [names[i] for i in kept],
        "all": size,
        "real": [[real[i][j] for j in kept] for i in kept],
        "holdout": [[portrait.holdout[i][j] for j in kept] for i in kept] if portrait.holdout else [],
        "synthetic": [[drawn[i][j] for j in kept] for i in kept],
        "difference": [[round(abs(drawn[i][j] - real[i][j]), 2) for j in kept] for i in kept],
        "worst": [
            {"one": names[j], "other": names[i], "real": real[i][j], "synthetic": drawn[i][j]} for _, i, j in pairs[:6]
        ],
    }


def _widest(pairs: list[tuple[float, int, int]]) -> list[int]:
    return list(dict.fromkeys(at for _, i, j in pairs for at in (i, j)))[:WIDEST_MAP]
