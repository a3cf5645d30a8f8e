"""`pytest-corpus site`: a static site over many attestations."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema_rs
import pytest
from ledgers import MUSTS, RUN
from sound import sound, violated

from pytest_corpus import cli, resources
from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking import verification
from pytest_corpus.reports.site import index, sources
from pytest_corpus.suites import inventory
from pytest_corpus.text import bounded
from pytest_corpus.verdict.deviations import Deviation
from pytest_corpus.verdict.verdict import decide

BROKEN = MUSTS[0].id
HOSTILE = "<script>alert(1)</script>"
DEVIATION = Deviation(BROKEN, "an old provider", "an upgrade", date(2025, 1, 31))


def attestation(name: str, day: int, broken: str = "", *deviations: Deviation) -> dict[str, Any]:
    """The report of a complete run in January 2025."""
    found = sound({broken: violated(broken)} if broken else {}, name=name)
    run = replace(RUN, started_at=f"2025-01-{day:02}T00:00:00+00:00", profile="dev")
    return json_report.build_report(found, decide(found, deviations=deviations, day=date(2025, 1, day)), run)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the reports of three adapters, and with files that are refused."""
    monkeypatch.chdir(tmp_path)
    first = attestation("pkg:fine", 1)
    reports = {
        "1/fine.json": first,
        "1/copy.json": first,
        "2/fine.json": attestation("pkg:fine", 2, BROKEN),
        "2/hostile.json": attestation(HOSTILE, 2),
        "2/deviating.json": attestation("Deviating", 2, BROKEN, DEVIATION),
        "3/altered.json": {**first, "seed": 8},
        "3/other.json": json_report.add_digest(
            {**first, "environment": {**first["environment"], "pytest-corpus": "0.9"}}
        ),
        "3/.hidden.json": {},
        "3/x.badge.json": {},
    }
    for name, document in reports.items():
        path = tmp_path / "reports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        json_report.write_report(document, path)
    return tmp_path


def site(*given: str) -> int:
    return cli.main(["site", "reports", "-o", "public", *given])


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def data(folder: Path) -> Any:
    return json.loads((folder / "public/data/index.json").read_text())


def test_the_data(here: Path) -> None:
    """Each adapter has its runs with what changed, equal files count once, and others are refused with the reason."""
    assert site() == 0
    found = data(here)
    schema = resources.folder("schemas") / "report" / "site.schema.json"
    assert list(jsonschema_rs.validator_for(json.loads(schema.read_text())).iter_errors(found)) == []
    by_name = {each["name"]: each for each in found["adapters"]}
    assert sorted(by_name) == sorted(["pkg:fine", HOSTILE, "Deviating"])
    first, second = by_name["pkg:fine"]["runs"]
    assert (first["verdict"], second["verdict"]) == ("conformant", "nonconformant")
    assert second["changes"] == {"newly_violated": [f"llm/{BROKEN}"]}
    assert second["regression"] == ["1 requirement newly violated", "the verdict is nonconformant and was conformant"]
    assert second["must"] == {"satisfied": len(MUSTS) - 1, "applicable": len(MUSTS)}
    assert by_name["pkg:fine"]["components"]["llm"]["features"]["Wire handler"] in ("violated", "satisfied")
    assert by_name["Deviating"]["verdict"] == "conformant_with_deviations"  # it expired since, but not on its day
    refused = {each["file"]: each["why"][0] for each in found["refused"]}
    assert sorted(refused) == ["3/altered.json", "3/other.json"]
    assert "it was changed after it was written" in refused["3/altered.json"]
    assert "written by pytest-corpus 0.9" in refused["3/other.json"]


def test_the_files(here: Path) -> None:
    """The pages have the hostile name as text only; badges, reports and the feed stand where the data says."""
    assert site("--url=https://example.org/") == 0
    files = tree(here / "public")
    for name, content in files.items():
        assert HOSTILE.encode() not in content or name.endswith(".json"), name
    for each in data(here)["adapters"]:
        assert {each["page"], each["report"], each["badge"], f"adapters/{each['slug']}/badge.json"} <= set(files)
    assert files["adapters/pkg~fine/report.json"] == (here / "reports/2/fine.json").read_bytes()
    assert b"1 newly violated" in files["adapters/pkg~fine/report.html"]
    atom = "{http://www.w3.org/2005/Atom}"
    (entry,) = ElementTree.fromstring(files["feed.xml"]).iter(f"{atom}entry")
    assert entry.findtext(f"{atom}title") == "pkg:fine: not conformant (was conformant)"
    assert entry.find(f"{atom}link").get("href") == "https://example.org/adapters/pkg~fine/index.html"  # type: ignore[union-attr]


def test_a_second_build(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It verifies nothing again, writes the same bytes, and leaves other files alone."""
    assert site() == 0
    before = tree(here / "public")
    (here / "public/CNAME").write_text("example.org")
    monkeypatch.setattr(index, "find_faults_in", lambda *_: pytest.fail("it was verified again"))
    assert site() == 0
    assert tree(here / "public") == {**before, "CNAME": b"example.org"}


def test_what_an_earlier_version_verified_counts(here: Path) -> None:
    """A report of another version counts if the version that wrote it verified it."""
    assert site() == 0
    memory = here / "public/data/verified.json"
    known = json.loads(memory.read_text())
    for each in known["verified"].values():
        if any("0.9" in fault for fault in each["faults"]):
            each.update(kit="0.9", faults=[])
    memory.write_text(json.dumps(known))
    assert site() == 0
    assert [each["file"] for each in data(here)["refused"]] == ["3/altered.json"]


def test_history(here: Path) -> None:
    """Every version in the git history counts, also one that was replaced or deleted."""
    git = ["git", "-C", str(here / "reports"), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    big = here / "reports/1/big.json"
    big.write_bytes(b" " * (bounded.LARGEST + 1))
    for day in (5, 6):
        json_report.write_report(attestation("pkg:fine", day), here / "reports/1/fine.json")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "more", "--no-gpg-sign"], check=True)
    shutil.rmtree(here / "reports/2")
    big.unlink()
    assert site("--history") == 0
    runs = {each["name"]: [run["started_at"][:10] for run in each["runs"]] for each in data(here)["adapters"]}
    assert runs["pkg:fine"] == ["2025-01-01", "2025-01-02", "2025-01-05", "2025-01-06"]
    assert runs[HOSTILE] == ["2025-01-02"]
    (refused,) = [each for each in data(here)["refused"] if each["file"].startswith("1/big.json (version ")]
    assert refused["why"] == ["is larger than 16 MiB, the limit for such a file"]


def test_several_processes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes find what one finds."""
    listed = sources.find_files(here / "reports", here)
    alone = list(index.examine_sources(listed, {}, date(2026, 1, 1), inventory.tests))
    monkeypatch.setattr(index, "CHUNK", 4)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert list(index.examine_sources(listed, {}, date(2026, 1, 1), inventory.tests)) == alone


@pytest.mark.parametrize(("files", "given", "said"), [
    ({}, [], "there is no folder reports"),
    ({"reports/a.txt": ""}, [], "there is no JSON report below reports"),
    ({"reports/a.json": "{}", "public/mine": ""}, [], "-o public: the folder is neither empty nor an earlier site"),
    ({"reports/a.json": "{}", "public": ""}, [], "-o public: it cannot be read as a folder"),
    ({"reports/a.json": "{}"}, ["--history"], "reports is not in a git repository; leave --history out"),
])  # fmt: skip
def test_one_sentence(  # noqa: PLR0917
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: Mapping[str, str],
    given: list[str],
    said: str,
) -> None:
    """If nothing can be built, one sentence says why, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    before = tree(tmp_path)
    assert site(*given) == 2
    assert said in capsys.readouterr().err
    assert tree(tmp_path) == before


def test_no_report_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The site says why each report is refused, and the exit code stops what would publish it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/a.json").write_text("{}")
    assert site("--url=https://example.org") == 1
    assert "1 file refused: see refused.html; no report is valid" in capsys.readouterr().err
    assert "is not a report of pytest-corpus" in (tmp_path / "public/refused.html").read_text()
    schema = json.loads((resources.folder("schemas") / "report" / "site.schema.json").read_text())
    assert list(jsonschema_rs.validator_for(schema).iter_errors(data(tmp_path))) == []
    assert not list(ElementTree.parse(tmp_path / "public/feed.xml").iter("{http://www.w3.org/2005/Atom}entry"))
    assert "No report is valid" in (tmp_path / "public/index.html").read_text()


def test_reports_that_differ_in_times_alone_share_their_faults(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The requirements of equal runs are looked at once; a duration that no run writes is found all the same."""
    looked: list[str] = []
    inner = verification._check_entries
    monkeypatch.setattr(verification, "_check_entries", lambda *given: looked.append("") or inner(*given))
    odd = attestation("pkg:fine", 4)
    odd["requirements"][0]["tests"][0]["duration_s"] = 0.12345
    for name, document in (("4/fine.json", attestation("pkg:fine", 3)), ("5/fine.json", json_report.add_digest(odd))):
        (here / "reports" / name).parent.mkdir()
        json_report.write_report(document, here / "reports" / name)
    assert site() == 0
    assert len(looked) == 4  # fine and hostile; broken; deviating; odd
    (why,) = [each["why"] for each in data(here)["refused"] if each["file"] == "5/fine.json"]
    assert "its tests are not as a run writes them" in why[0]


def test_slugs() -> None:
    """A slug is a file name everywhere; two names never share one."""
    assert index.make_slug("pkg.mod:factory") == "pkg.mod~factory"
    names = ["a b", "a-b", "A-B", "a~b", "a:b", "..", "", "con", "con.x", "_a", "a.", "é", "x" * 300, "a/../b"]
    names += [index.make_slug(name) for name in names]
    slugs = [index.make_slug(name) for name in dict.fromkeys(names)]
    assert len(set(slugs)) == len(slugs)
    for each in slugs:
        assert re.fullmatch(r"[a-z0-9]([a-z0-9._~-]{0,62}[a-z0-9])?", each), each


def test_a_signed_report_owns_its_name(here: Path) -> None:
    """A resealed report with the name of another adapter is refused; "verified" is said of signatures alone."""
    from signatures import KEY, OTHER, public

    from pytest_corpus.reports.signing import dsse, intoto

    fine, forged = attestation("pkg:fine", 1), attestation("pkg:fine", 3, BROKEN)
    (here / "pub.pem").write_bytes(public(KEY))
    for name, document, key in (("a", fine, KEY), ("b", forged, OTHER)):
        json_report.write_report(document, here / f"reports/{name}.json")
        sealed = dsse.sign_payload(intoto.render(document).encode(), key)
        (here / f"reports/{name}.dsse.json").write_text(sealed)
    assert cli.main(["site", "reports", "-o", "public", "--public-key", "pub.pem"]) == 0
    data = json.loads((here / "public/data/index.json").read_text())
    schema = json.loads((resources.folder("schemas") / "report/site.schema.json").read_text("utf-8"))
    jsonschema_rs.validator_for(schema).validate(data)
    (own,) = (each for each in data["adapters"] if each["name"] == "pkg:fine")
    assert (own["verdict"], len(own["runs"])) == ("conformant", 1)
    assert own["owner"] == dsse.key_id(KEY.public_key())
    refused = {each["file"]: each["why"] for each in data["refused"]}
    assert "belongs to" in refused["b.json"][0]
    assert "belongs to" in refused["2/fine.json"][0]
    page = (here / "public" / own["page"]).read_text()
    assert f"verified: signed by {own['owner']}" in page
    others = [each for each in data["adapters"] if "owner" not in each]
    assert others
    assert all("not signed: anybody" in (here / "public" / each["page"]).read_text() for each in others)
    assert "verified" not in (here / "public/index.html").read_text().split("<main>")[1]


def test_a_statement_of_another_report_signs_nothing(here: Path) -> None:
    """A signature counts for the report whose statement it is, byte for byte."""
    from signatures import KEY, public

    from pytest_corpus.reports.signing import dsse, intoto

    fine = attestation("pkg:fine", 1)
    (here / "pub.pem").write_bytes(public(KEY))
    payload = intoto.render(fine).replace('"verdict": "conformant"', '"verdict": "other"').encode()
    (here / "reports/1/fine.dsse.json").write_text(dsse.sign_payload(payload, KEY))
    assert cli.main(["site", "reports", "-o", "public", "--public-key", "pub.pem"]) == 0
    data = json.loads((here / "public/data/index.json").read_text())
    assert not any("owner" in each for each in data["adapters"])
