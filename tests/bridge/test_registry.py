"""Entries of the registry of DP deployments: as they are written, read, checked and compared.

The entries here have the parameters and the structure of real ones, and words of our own. With
REGISTRY_SCHEMA=FILE the published schema is held against our fields, and against what is written.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command import run
from contracts import checked

import dpcompose
from dpcompose.bridge import registry_entries as registry
from dpcompose.bridge.registry_check import check_entry
from dpcompose.bridge.registry_entries import OURS, SCHEMA, read_entry
from dpcompose.errors import InvalidSpec

SPECS = Path(__file__).parents[2] / "specs"
PUBLISHED = os.environ.get("REGISTRY_SCHEMA")


def entry(
    variant: str = "Pure DP",
    parameters: str = "{epsilon: 1.0}",
    unit: str = "privacy_unit: User-level",
    details: str = "",
    composition: str = "",
    more: str = "",
    status: str = "Pending",
) -> str:
    """A whole entry; `details` and `composition` are the lines of blocks."""

    def block(name: str, text: str, margin: str) -> str:
        lines = "".join(f"{margin}  {line}\n" for line in text.strip("\n").split("\n"))
        return f"{margin}{name}: |\n{lines}" if text else ""

    return f"""\
url_slug: x-y-2024
status: {status}
tier: 3
deployment:
  basic:
    name: X
    data_curators: [Y]
    intended_use: research
    data_product_type: Summary statistics
    data_product_region: Global
    description: counts
    publication_date: '2024-01-31'
  dp_variant:
    variant_name: {variant}
  privacy_loss:
    {unit}
    privacy_parameters: {parameters}
{block("privacy_parameters_details", details, "    ")}\
  accounting:
    post_processing: rounding
{block("composition", composition, "    ")}\
{more}"""


def found(text: str) -> list[tuple[str, str, str]]:
    """The findings about an entry: level, code and message."""
    return [
        (each.level, each.code, each.message) for each in check_entry(read_entry(text, "e")).found
    ]


# --- the schema ----------------------------------------------------------------------------------


def json_schema(fields: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a mapping with our fields."""
    kinds: dict[str, Any] = {
        "text": {"type": "string"},
        "texts": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "date": {"type": "string", "format": "date"},
        "number": {"type": "number"},
        "number or text": {"type": ["number", "string"]},
        "anything": {},
    }
    properties = {}
    for name, kind in fields.items():
        if isinstance(kind, dict):
            made = json_schema(kind)
        elif isinstance(kind, list):
            values = [int(each) if each.isdigit() else each for each in kind]
            made = {"type": "integer" if name == "tier!" else "string", "enum": values}
        else:
            made = kinds[kind]
        properties[name.rstrip("!")] = made
    needed = sorted(name[:-1] for name in fields if name.endswith("!"))
    shape = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**shape, "required": needed} if needed else shape


def stripped(schema: Any) -> Any:
    """The published schema without its prose."""
    if not isinstance(schema, dict):
        return schema
    shape = {
        key: stripped(value)
        for key, value in schema.items()
        if key not in ("description", "description_long", "tier")
    }
    if "required" in shape:
        shape["required"] = sorted(shape["required"])
    if "properties" in shape:  # of which some have such names
        shape["properties"] = {key: stripped(each) for key, each in schema["properties"].items()}
    return shape


def valid(text: str) -> Any:
    """What the registry's own reader and its checks make of an entry, which they accept."""
    tree = yaml.load(text, yaml.SafeLoader)
    schemas = [json_schema(registry.fields())]
    if PUBLISHED is not None:
        schemas.append(yaml.safe_load(Path(PUBLISHED).read_bytes()))
    for schema in schemas:
        kind = jsonschema.Draft7Validator
        assert [*kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(tree)] == []
    styles = {token.style for token in yaml.scan(text) if isinstance(token, yaml.ScalarToken)}
    assert styles <= {None, "", "|", '"', "'"}
    return tree


def test_the_fields_are_those_of_one_version_of_the_schema() -> None:
    ours = Path(registry.__file__).with_name("registry_fields.yaml").read_bytes()
    assert sha256(ours).hexdigest() == SCHEMA.fields
    assert len(SCHEMA.published) == 64 and len(SCHEMA.commit) >= 7
    if PUBLISHED is not None:
        theirs = Path(PUBLISHED).read_bytes()
        assert sha256(theirs).hexdigest() == SCHEMA.published
        assert json_schema(registry.fields()) == stripped(yaml.safe_load(theirs))


# --- written entries -----------------------------------------------------------------------------


def written(name: str, *more: str) -> str:
    result = run("analyze", str(next(SPECS.rglob(f"{name}.yaml"))), "--format", "registry", *more)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


@pytest.mark.parametrize(
    ("name", "more", "variant", "parameters"),
    [
        ("google-mobility", (), "Pure DP", {"epsilon": 2.64}),
        ("linkedin-labour-market", (), "Approximate DP", {"epsilon": 4.8, "delta": 4e-10}),
        ("dp-sgd", (), "Approximate DP", {"epsilon": 2.382, "delta": 1e-5}),
        ("districts-zcdp-bounded", (), "Zero-concentrated DP", {"rho": 0.45}),
        ("visits-gaussian-cap", (), "Custom", None),
        ("visits-gaussian-cap", ("--delta", "1e-6"), "Custom", {"epsilon": 2.255, "delta": 1e-6}),
    ],
)
def test_a_written_entry_has_its_variant_and_parameters_rounded_up(
    name: str, more: tuple[str, ...], variant: str, parameters: dict[str, float] | None
) -> None:
    text = written(name, *more)
    told = valid(text)["deployment"]
    assert told["dp_variant"]["variant_name"] == variant
    assert told["privacy_loss"].get("privacy_parameters") == parameters
    assert told["privacy_loss"]["privacy_parameters_details"].startswith(OURS)
    levels = {(level, code) for level, code, _ in found(text)}
    assert levels == {("note", "DPC408")}  # what is left to do


def test_a_written_entry_tells_what_the_report_has() -> None:
    report = dpcompose.analyze_file(SPECS / "deployments" / "google-mobility.yaml")
    told = valid(written("google-mobility"))["deployment"]
    assert "- ε = 66/25 (2.64) (pure DP).\n" in told["privacy_loss"]["privacy_parameters_details"]
    steps = told["accounting"]["composition"]
    assert steps.count("\n- ") == len(report.chain)
    assert "so ε = 66/25 (2.64) (Theorem V.3, GMPS24)." in steps
    mechanisms = told["implementation"]["mechanisms"]
    assert mechanisms.count("\n- ") == 7
    assert "- `visits by county` on `county_pairs`: 0.22-DP." in mechanisms
    assert "each row is in at most 4 blocks of `county_pairs`" in told["implementation"][
        "justification"
    ]  # fmt: skip
    assert report.digest in told["administrative"]["notes"]
    details = told["privacy_loss"]["privacy_unit_details"]
    assert "1 row added or removed (unbounded neighbours)" in details
    assert "symmetric distance, and the maximum distance between adjacent ones is 1" in details


def test_the_unit_and_what_is_not_protected() -> None:
    users = valid(written("visits-gaussian-cap"))["deployment"]
    assert users["privacy_loss"]["privacy_unit"] == "User-level"
    bounded = valid(written("districts-zcdp-bounded"))["deployment"]
    assert "change-one distance" in bounded["privacy_loss"]["privacy_unit_details"]
    assert "The number of rows" in bounded["dp_variant"]["unprotected_quantities"]
    after = valid(written("smoothed-counts"))["deployment"]["accounting"]["post_processing"]
    assert "- `consistent` uses `total` and `counts` alone: costs nothing." in after


@pytest.mark.slow
def test_an_entry_of_every_spec_is_valid_and_fits_its_spec(home: Path) -> None:
    for path in sorted(SPECS.glob("*/*.yaml")):
        result = run("analyze", str(path), "--format", "registry")
        if "no finite guarantee" in result.stdout:
            assert result.stdout == f"# {path}: no entry, since there is no finite guarantee\n"
            continue
        valid(result.stdout)
        Path("e.yaml").write_text(result.stdout, encoding="utf-8")
        done = run("registry", "check", "e.yaml", "--spec", str(path), "--format", "json")
        codes = {
            each["code"] for each in checked("registry", done.stdout)["entries"][0]["findings"]
        }
        assert (done.exit_code, codes) == (0, {"DPC408"}), path


def test_no_text_of_a_spec_is_markup_or_breaks_the_entry() -> None:
    for name in (
        "<script>alert(1)</script>", "a` <img src=x> `b", "![x](http://evil.example)", "x: |\n  y",
        "- a\n- b", "'\"\\", "\u2028 \x85 \t", "{{x}}", "\U0001f600 ok", "yes", "null", "# x", "3",
    ):  # fmt: skip
        spec = yaml.safe_dump(
            {
                "dpcompose": 1,
                "title": name,
                "protect": "unbounded",
                "datasets": {"trips": {}},
                "mechanisms": [{"name": name, "reads": "trips", "notion": "pure", "epsilon": 1}],
            },
            allow_unicode=False,
        )
        result = run("analyze", "-", "--format", "registry", stdin=spec)
        if result.exit_code == 3:  # a name that specs refuse
            continue
        told = valid(result.stdout)["deployment"]["implementation"]["mechanisms"]
        assert not any(each in told for each in ("<script", "<img", "](")), name
        assert found(result.stdout)


def test_prose_of_an_older_entry_is_kept(home: Path) -> None:
    old = entry(
        parameters="{epsilon: 9.0}",
        details="As in the paper.",
        composition=f"Sequential.\n\n{OURS}\n\n- what stood here before",
        more="  administrative:\n    sources: https://example.org\n    registry_authors: [Z]\n",
        unit="privacy_unit: User-day-level",
        status="Approved",
    )
    Path("old.yaml").write_text(old)
    text = written("google-mobility", "--registry-from", "old.yaml")
    tree = valid(text)
    told = tree["deployment"]
    assert (tree["url_slug"], tree["status"]) == ("x-y-2024", "Approved")
    assert told["basic"] == yaml.safe_load(old)["deployment"]["basic"]
    assert told["privacy_loss"]["privacy_unit"] == "User-day-level"
    assert told["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.64}
    assert told["privacy_loss"]["privacy_parameters_details"].startswith(
        f"As in the paper.\n\n{OURS}\n\n- ε = 66/25"
    )
    composition = told["accounting"]["composition"]
    assert composition.startswith(f"Sequential.\n\n{OURS}\n") and "stood here" not in composition
    assert told["accounting"]["post_processing"] == "rounding"
    assert told["administrative"]["registry_authors"] == ["Z"]
    Path("new.yaml").write_text(text, encoding="utf-8")
    assert written("google-mobility", "--registry-from", "new.yaml") == text


def test_any_prose_is_kept_as_it_is(home: Path) -> None:
    basic = {
        "name": "# x: |",
        "data_curators": ["- x", "yes", "null", "12", "\x85", "\U0001f600", "'\""],
        "intended_use": "  indented\n- more\n",
        "data_product_type": "Dataset",
        "data_product_region": "two blanks  \nand a tab\t\n",
        "description": "%YAML 1.2\n---\n...\n",
        "publication_date": "2024-01-31",
    }
    old = yaml.safe_load(entry())
    old["deployment"]["basic"] = basic
    # Where the schema takes anything, only text is prose.
    old["deployment"]["privacy_loss"]["privacy_parameters_details"] = [1, {"a": True}]
    old["deployment"]["deployment_model"] = {"data_source_type_details": {"a": [None]}}
    Path("old.yaml").write_text(yaml.safe_dump(old))
    told = valid(written("survey", "--registry-from", "old.yaml"))["deployment"]
    assert told["basic"] == basic
    assert told["privacy_loss"]["privacy_parameters_details"].startswith(OURS)
    assert told["deployment_model"]["data_source_type_details"] == "TODO"


# --- entries by themselves -----------------------------------------------------------------------

MOBILITY = entry(
    details=r"""
- Places: \\(\epsilon\\) = 1.76
- Homes: \\(\epsilon\\) = 0.44
- Work: \\(\epsilon\\) = 0.44
""",
    parameters="{epsilon: 2.64}",
    unit="privacy_unit: User-day-level",
    composition=r"""
Basic composition
- Places:
  - \\(\epsilon\\) = 0.11 for countries and regions
  - \\(\epsilon\\) = 0.22 for counties
  - One visit is counted thrice: 0.11 * 2 + 0.22 = 0.44
  - At most four pairs a day: 4 * 0.44 = 1.76
- Homes: 0.11*2 + 0.22 = 0.44
""",
)
CENSUS = entry(
    "Zero-concentrated DP",
    "{rho: 15.29}",
    "privacy_unit: Person-level; housing-unit-level",
    r"""
- The whole budget is \\(\rho\\)  = 15.29, split between people and homes:
  - People: \\(\rho\\) = 4.96 (that is \\(\epsilon\\)=26.34 and \\(\delta = 10^{-10}\\).
  - Homes: \\(\rho\\)  = 7.70 (that is \\(\epsilon\\) = 34.33 and \\(\delta = 10^{-10}\\).
- It is not the same at each level.
""",
)
ENERGY = entry(
    "Approximate DP",
    "{epsilon: 4.72, delta: 5.06e-9}",
    details=r"The paper has \\(\epsilon=0.843\\); without a sample it is \\(\epsilon = 6.8\\).",
    composition=r"""
Basic Composition:
  - Histogram:
    - \\(\epsilon\\) = 0.1
  - Load shape:
    - \\(\epsilon\\) = 4.0 and \\(\delta\\)=4.08e-8
  - Two sums:
    - \\(\epsilon\\) = 1.25 for one, so the total is \\(\epsilon \\) = 2.5.
""",
)
SCENES = entry(parameters="{epsilon: 1.0, delta: 1.5e-7}", unit="privacy_unit: ''")
BROADBAND = entry(
    parameters="{epsilon: 0.2}",
    composition=r"""
Two counts a place, each with \\(\epsilon = 0.1\\).
By parallel composition:
  - One data set costs 0.1.
  - The other costs 0.1.
By sequential composition, the loss is 0.2.
""",
)


def test_entries_that_add_up_have_no_findings() -> None:
    assert found(MOBILITY) == []
    assert found(ENERGY) == []
    assert found(CENSUS.replace("15.29", "12.66")) == []


def test_a_delta_beside_pure_dp_and_no_unit() -> None:
    assert found(SCENES) == [
        ("error", "DPC401", "Pure DP has no δ"),
        ("error", "DPC406", "privacy parameters without a privacy unit"),
    ]


def test_parallel_composition_needs_a_bound_on_contributions() -> None:
    ((level, code, message),) = found(BROADBAND)
    assert (level, code) == ("warning", "DPC405") and "`User-level`" in message
    for more in ("A user has at most one device.", "Contributions are capped."):
        assert found(BROADBAND.replace("Two counts", f"{more} Two counts")) == []
    assert found(BROADBAND.replace("User-level", "Event-level")) == []


@pytest.mark.parametrize(
    ("variant", "parameters", "says"),
    [
        ("Pure DP", "{epsilon: 1.0, delta: 0}", None),
        ("Pure DP", "{rho: 1.0}", "Pure DP needs ε and has no ρ"),
        ("Approximate DP", "{epsilon: 1.0}", "Approximate DP needs δ"),
        ("Approximate DP", "{epsilon: 1.0, delta: 0.0}", "Approximate DP needs δ"),
        ("Approximate DP", "{epsilon: 1.0, delta: 1.0e-6, rho: 1}", "Approximate DP has no ρ"),
        ("Zero-concentrated DP", "{epsilon: 1.0, delta: 1.0e-6, rho: 1}", None),
        ("Zero-concentrated DP", "{epsilon: 1.0, rho: 1}",
         "Zero-concentrated DP has an ε only at a δ"),
        ("Renyi DP", "{epsilon: 1.0, delta: 1.0e-6}", None),
        ("Custom", "{epsilon: 1.0}", "Custom needs its relation in `privacy_unit_details`"),
        ("Pure DP", "{}", None),
    ],
)  # fmt: skip
def test_the_variant_fits_the_parameters(variant: str, parameters: str, says: str | None) -> None:
    expected = [] if says is None else [("error", "DPC401", says)]
    assert found(entry(variant, parameters)) == expected


@pytest.mark.parametrize(
    ("delta", "level", "says"),
    [
        ("1.0e-7", None, ""),
        ("1", "error", "δ = `1` must be at least 0 and below 1"),
        ("-0.1", "error", "δ = `-0.1` must be at least 0 and below 1"),
        ("'n^{-1}'", "error", "δ = `n^{-1}` is no number"),
        ("10^-7", "error", "δ = `10^-7` is no number"),
        ("1e-7", "warning", "δ = `1e-7` is a text for the registry's reader"),
        ("1/1000", "warning", "δ = `1/1000` is a text for the registry's reader"),
    ],
)
def test_a_delta_is_a_number_below_one(delta: str, level: str | None, says: str) -> None:
    text = entry("Approximate DP", f"{{epsilon: 1.0, delta: {delta}}}")
    assert found(text) == ([] if level is None else [(level, "DPC402", says)])
    is_text = isinstance(
        yaml.safe_load(text)["deployment"]["privacy_loss"]["privacy_parameters"]["delta"], str
    )
    assert is_text == (level is not None and delta not in ("1", "-0.1"))


@pytest.mark.parametrize(
    ("total", "details", "expected"),
    [
        # 4 + 0.99, doubled by private selection
        ("9.98", "ε = 4 to fit, ε = 0.99 to test, and a factor 2. In all ε = 9.98.", None),
        ("4.99", "ε = 4 to fit, ε = 0.99 to test, and a factor 2. In all ε = 4.99.",
         ("warning", "DPC403", "4 + 0.99, 2 times, is 9.98, not ε = 4.99")),
        ("10.0", "ε = 4 • ε = 2 • ε = 1 • ε = 3, together ε = 10.", None),
        ("1.24", "- a ε = 0.63\n- b ε = 0.61", None),
        ("1.2", "- a ε = 0.63\n- b ε = 0.61",
         ("warning", "DPC404", "ε = 1.2 is below 0.63 + 0.61: it was rounded down")),
        ("1.0", "- a ε = 0.63\n- b ε = 0.61",
         ("warning", "DPC403", "0.63 + 0.61 is 1.24, not ε = 1.0")),
        ("1.68", "This ε = 1.68 is made of:\n- a (ε = 1.638):\n  - ε_0 = 0.168\n  - ε_1 = 0.37\n"
         "  - ε_2 = 1.1\n- b (ε = 0.042):\n  - ε_0' = 0.0023\n  - ε_1' = 0.0047\n  - ε_2' = 0.014",
         ("error", "DPC403", "0.0023 + 0.0047 + 0.014 is 0.021, not ε = 0.042")),
        ("1.0", "0.1 * 4 + 0.2 = 0.7", ("error", "DPC403", "0.1 * 4 + 0.2 is 0.6, not 0.7")),
        # Nothing that is claimed to be a sum.
        ("1.0", "each ε = 1.0:\n- a ε = 0.5\n- b ε = 1.0", None),
        ("1.0", "ε = 1.0 in the worse of two cases:\n- a ε = 1.0\n- b ε = 1.0", None),
        ("1.0", "3 × 10^5 = 300000, 7 − 2 * 3 = 1, x = 2 * 3 = 7e1, 0.3 * 3 = 1", None),
        ("1.0", "- a (ε = 0.3, then ε = 0.4)\n- b ε = 0.5", None),
        ("1.0", "- a ε = 1/2\n- b ε = 0.5\n- c ε = 0.5", None),
        ("1.01", f"- a ε = 0.5\n- b ε = 0.51\n\n{OURS}\n\n- ε = 1.0099 (pure DP).", None),
    ],
)  # fmt: skip
def test_numbers_in_texts(total: str, details: str, expected: tuple[str, str, str] | None) -> None:
    text = entry(parameters=f"{{epsilon: {total}}}", details=details)
    assert found(text) == ([] if expected is None else [expected])


def test_texts_on_one_line_and_folded_ones_have_places() -> None:
    quoted = entry(more="  implementation: {mechanisms: 'x'}\n").replace(
        "post_processing: rounding", "composition: 'so 2 * 2 = 5, it says'"
    )
    (finding,) = check_entry(read_entry(quoted, "e")).found
    assert finding.span is not None
    line = quoted.split("\n")[finding.span.line - 1]
    assert line[finding.span.column - 1 : finding.span.end_column - 1] == "2 * 2 = 5"
    folded = quoted.replace("'so 2 * 2 = 5, it says'", '"so \\\n      2 * 2\\x20= 5"')
    (finding,) = check_entry(read_entry(folded, "e")).found
    assert finding.span is not None and "composition" in folded.split("\n")[finding.span.line - 1]


def test_placeholders_are_listed() -> None:
    text = entry(status="Draft").replace("Global", "TODO") + "  # accounting: TODO\n"
    assert [each[:2] for each in found(text)] == [("note", "DPC408")] * 2
    assert {each[0] for each in found(text.replace("Draft", "Pending"))} == {"warning"}


# --- entries from strangers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ("status: Pending", "status: pending", "DPC104", "`status`"),
        ("tier: 3", "tier: '3'", "DPC104", "`tier`"),
        ("tier: 3", "tier: 4", "DPC104", "`tier`"),
        ("tier: 3\n", "", "DPC102", "an entry needs the field `tier`"),
        ("    name: X\n", "", "DPC102", "`basic` needs the field `name`"),
        ("variant_name:", "flavor:", "DPC101", "unknown field `flavor` in `dp_variant`"),
        ("[Y]", "[]", "DPC103", "`data_curators` must be a list of texts"),
        ("[Y]", "[1]", "DPC103", "`data_curators` must be a list of texts"),
        ("'2024-01-31'", "2024-01-31", "DPC103", "`publication_date` must be a day"),
        ("'2024-01-31'", "'1/31/2024'", "DPC103", "`publication_date` must be a day"),
        ("'2024-01-31'", "'2024-02-31'", "DPC103", "`publication_date` must be a day"),
        ("epsilon: 1.0", "epsilon: about 1", "DPC103", "`epsilon` must be a number"),
        ("epsilon: 1.0", "epsilon: 1e0", "DPC103", "`epsilon` must be a number"),
        ("epsilon: 1.0", "sigma: 1.0", "DPC101", "unknown field `sigma`"),
        ("description: counts", "description:", "DPC103", "`description` must be a text"),
        ("User-level", "12", "DPC103", "`privacy_unit` must be a text"),
        ("{epsilon: 1.0}", "1.0", "DPC103", "`privacy_parameters` holds fields of its own"),
        ("tier: 3", "tier: !!python/object:os.system 3", "DPC013", "the tag"),
        ("tier: 3", "tier: 3\ntier: 3", "DPC010", "the key `tier`"),
    ],
)
def test_what_does_not_fit_the_schema_is_invalid(old: str, new: str, code: str, says: str) -> None:
    text = entry()
    assert old in text
    with pytest.raises(InvalidSpec) as error:
        read_entry(text.replace(old, new), "e")
    (finding,) = error.value.diagnostics
    assert finding.code == code and finding.message.startswith(says)
    if code != "DPC010" and "python" not in new:  # as the registry's own checks say
        with pytest.raises(AssertionError):
            valid(text.replace(old, new))


def test_hostile_entries_end_soon() -> None:
    deep = "a: " + "[" * 5000
    bomb = "a: &a [x]\n" + "".join(f"b{n}: &b{n} [{'*a, ' * 9}*a]\n" for n in range(3))
    for text in (deep, bomb, "- 1\n", "x", "\x00", "a: 1\n---\nb: 1\n"):
        with pytest.raises(InvalidSpec):
            read_entry(text, "e")
    for piece in ("1 * " * 20_000, "1*1=", "ε = 1 ", "- ε = 1\n", "(" * 50_000, " " * 50_000):
        text = (piece * (60_000 // len(piece) + 1)).rstrip()
        found(entry(details=text or "x", composition=text or "x", parameters="{epsilon: 1.0}"))
    assert found(entry(parameters="{epsilon: 1.0e+999}")) == []
    assert found(entry(parameters="{epsilon: 1.0e+999999999}"))[0][1] == "DPC402"


# --- entries and their specs ---------------------------------------------------------------------

SAMPLED = """\
dpcompose: 1
protect: unbounded
datasets:
  customers: {}
  group: {from: customers, map: {kind: sample, poisson: 0.124}}
mechanisms:
  - {name: all queries, reads: group, notion: approx, epsilon: 6.8, delta: 4.08e-8}
"""
HOUSEHOLDS = """\
dpcompose: 1
protect: bounded
datasets: {people: {}}
mechanisms:
  - {name: people, reads: people, notion: zcdp, rho: 24811/5000}
  - {name: homes, reads: people, notion: zcdp, rho: 15401/2000}
"""


def compared(text: str, spec: str | Path, *more: str) -> tuple[int, list[tuple[str, str, str]]]:
    """The exit code and the findings of `registry check --spec`."""
    Path("e.yaml").write_text(text, encoding="utf-8")
    if isinstance(spec, str):
        Path("s.yaml").write_text(spec, encoding="utf-8")
        spec = Path("s.yaml")
    done = run("registry", "check", "e.yaml", "--spec", str(spec), "--format", "json", *more)
    (told,) = checked("registry", done.stdout)["entries"]
    keys = ("level", "code", "message")
    return done.exit_code, [tuple(each[key] for key in keys) for each in told["findings"]]


def test_an_entry_that_fits_its_spec(home: Path) -> None:
    assert compared(MOBILITY, SPECS / "deployments" / "google-mobility.yaml") == (0, [])


def test_an_epsilon_that_was_rounded_down(home: Path) -> None:
    """ln(1 + 0.124 (e^6.8 - 1)) = 4.7203638, δ 5.0592e-9: printed as 4.72 and 5.06e-9."""
    says = "ε = 4.72 at δ = 5.06e-9 is below the 4.72037 that s.yaml certifies: it was rounded down"
    assert compared(ENERGY, SAMPLED) == (1, [("error", "DPC404", says)])
    assert compared(ENERGY.replace("4.72,", "4.73,"), SAMPLED) == (0, [])
    assert compared(ENERGY.replace("4.72,", "4.721,"), SAMPLED) == (0, [])
    code, ((level, _, message),) = compared(ENERGY.replace("4.72,", "0.843,"), SAMPLED)
    assert (code, level) == (1, "error") and "rounded" not in message


def test_a_number_of_more_than_the_spec(home: Path) -> None:
    """24811/5000 + 15401/2000 = 12.6627; 15.29 has the redistricting files in it too."""
    code, ((*larger,), (*parts,)) = compared(CENSUS, HOUSEHOLDS)
    assert larger == [
        "warning",
        "DPC407",
        "ρ = 15.29 is more than the 12.6627 that s.yaml certifies",
    ]
    assert (code, parts[0], parts[1]) == (1, "error", "DPC403")
    assert compared(CENSUS.replace("15.29", "12.67"), HOUSEHOLDS) == (0, [])
    code, ((level, what, message),) = compared(CENSUS.replace("15.29", "12.66"), HOUSEHOLDS)
    assert (code, level, what) == (1, "error", "DPC404") and message.endswith("it was rounded down")


@pytest.mark.parametrize(
    ("spec", "details", "says"),
    [
        ("unbounded", "A single record is replaced.", "the entry has bounded neighbours, and"),
        ("bounded", "Adding or removing one record.", "the entry has unbounded neighbours, and"),
        ("bounded", "Change-one distance.", None),
        ("unbounded", "The symmetric distance.", None),
        ("unbounded", "Nothing is said.", None),
        ("{relation: unbounded, distance: 30}", "the maximum distance between any two is one.",
         "the entry says distance one, and s.yaml protects 30 steps"),
    ],
)  # fmt: skip
def test_relations_and_distances(home: Path, spec: str, details: str, says: str | None) -> None:
    text = f"""\
dpcompose: 1
protect: {spec}
datasets: {{trips: {{}}}}
mechanisms: [{{name: total, reads: trips, notion: pure, epsilon: 1}}]
"""
    unit = f"privacy_unit: User-level\n    privacy_unit_details: '{details}'"
    told = compared(entry(unit=unit, parameters="{epsilon: 30.0}"), text)[1]
    told = [each for each in told if "is more than" not in each[2]]
    assert [each[:2] for each in told] == ([] if says is None else [("warning", "DPC407")])
    assert says is None or told[0][2].startswith(says)


def test_a_gaussian_is_compared_in_rho_and_a_user_is_no_event(home: Path) -> None:
    """0.5-GDP is 0.125-zCDP."""
    users = SPECS / "patterns" / "visits-gaussian-cap.yaml"
    assert compared(entry("Zero-concentrated DP", "{rho: 0.125}"), users) == (0, [])
    assert compared(entry("Zero-concentrated DP", "{rho: 0.12}"), users)[0] == 1
    unit = "privacy_unit: Event-level"
    ((*_, says),) = compared(entry("Zero-concentrated DP", "{rho: 0.125}", unit), users)[1]
    assert says == f"the entry protects one record, and {users} all rows of a user"
    code, ((_, what, says),) = compared(entry(), users)
    assert (code, what) == (1, "DPC404") and says.endswith("certifies no finite ε without a δ")
    code, ((_, what, says),) = compared(entry(), SPECS / "paper" / "parallel-trap.yaml")
    assert (code, what) == (1, "DPC404") and "has no finite guarantee" in says


# --- the command ---------------------------------------------------------------------------------


def test_nothing_is_quoted_of_other_files(home: Path) -> None:
    Path("secret.yaml").write_text("password: hunter2\n")
    for form in ("text", "json", "github", "sarif"):
        done = run("registry", "check", "secret.yaml", "--format", form)
        assert done.exit_code == 3 and "hunter2" not in done.output
