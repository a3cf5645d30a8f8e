"""`--corpus-report` and `corpus_report`: written whole or not at all."""

import hashlib
import json
import os
from xml.etree import ElementTree

import pytest
from inner_runs import REFERENCE, Project, error_lines, refusal, said, usage_error

from pytest_corpus.reports import formats
from pytest_corpus.reports.reading import schema_flaws

FEW = "--corpus-requirement=COM-CAP-2"


def test_relative_to_the_invocation_folder(project: Project) -> None:
    """A relative path starts where pytest was called, whatever the root folder is."""
    project.pytester.makeini("[pytest]\n")
    (project.path / "below").mkdir()
    project.pytester.chdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.path / "below")
        project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert project.report("below/r.json")["format"] == "1.0"


def test_ini_and_repeated(project: Project) -> None:
    """The ini twin takes several paths, and all are written, with one content."""
    project.pytester.makeini("[pytest]\ncorpus_report =\n  a.json\n  b.json\n")
    project.run(REFERENCE, FEW)
    assert project.report("a.json") == project.report("b.json")
    project.run(REFERENCE, FEW, "--corpus-report=c.json", "--corpus-report=d.json")
    assert project.report("c.json") == project.report("d.json")


def test_replaces_an_older_one(project: Project) -> None:
    """An older report is replaced by JSON with sorted keys and a final newline; no temporary file stays behind.

    The file without its line `sha256` has that SHA-256, and its schema accepts it.
    """
    (project.path / "r.json").write_text("{}")
    result = project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert f"report: {project.path / 'r.json'}" in result.outlines
    assert project.report()["verdict"] == "partial"
    assert [path.name for path in project.path.iterdir()] == ["r.json"]
    text = (project.path / "r.json").read_text("utf-8")
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    bare = "".join(line for line in text.splitlines(keepends=True) if not line.startswith('  "sha256": '))
    assert hashlib.sha256(bare.encode()).hexdigest() == project.report()["sha256"]
    assert schema_flaws(project.report()) == []


@pytest.mark.parametrize(("path", "fault"), [
    ("nowhere/r.json", "there is no folder"),
    ("folder.json", "this is a folder"),
    ("r.txt", f"must end in {formats.list_suffixes((*formats.FORMATS, formats.JUNIT))}"),
    ("r", "must end in .json, "),
    (".json", "must end in .json, "),
    ("r.xml", "must end in .json, "),
    ("/dev/null", "must end in .json, "),
    ("null.json", "it cannot be written: Not a regular file"),
    ("pipe.json", "it cannot be written: Not a regular file"),
    ("loop.json", "it cannot be written: Too many levels of symbolic links"),
    ("astray.json", "there is no folder "),
    ("file/r.json", "there is no folder "),
    ("file/../r.json", "there is no folder "),
    (f"{'x' * 251}.json", "it cannot be written: File name too long"),
    (f"{'ä' * 126}.json", "it cannot be written: File name too long"),
    (f"{'x/' * 3000}r.json", "it cannot be written: File name too long"),
    ("/proc/r.json", "it cannot be written: "),
])  # fmt: skip
def test_path_that_cannot_be(project: Project, path: str, fault: str) -> None:
    """A path that can never be written is a usage error before anything runs."""
    (project.path / "folder.json").mkdir()
    (project.path / "file").touch()
    os.mkfifo(project.path / "pipe.json")
    for link, target in (("null", "/dev/null"), ("loop", "loop.json"), ("astray", "nowhere/r.json")):
        (project.path / f"{link}.json").symlink_to(target)
    before = sorted(project.path.iterdir())
    line = refusal(project, f"--corpus-report={path}")
    assert f"--corpus-report={path}: " in line
    assert fault in line
    assert sorted(project.path.iterdir()) == before


@pytest.mark.parametrize("char", ["\0", "\n", "\r", "\x1b"])
def test_path_with_a_control_character(project: Project, char: str) -> None:
    """Such a path is refused, and the message shows the character as an escape."""
    escaped = char.encode("unicode_escape").decode()
    said = f"--corpus-report=a{escaped}b.json: a report cannot have a control character in its path"
    assert refusal(project, f"--corpus-report=a{char}b.json") == said


@pytest.mark.parametrize("name", [f"{'x' * 250}.json", f"{'ä' * 125}.json", f"{'😀' * 62}.json", "folder/../r.json"])
def test_path_that_can_be(project: Project, name: str) -> None:
    """A name may be as long as any file's, and a path may go up again."""
    (project.path / "folder").mkdir()
    assert project.run(REFERENCE, FEW, f"--corpus-report={name}").ret == 0
    assert project.report(name)["format"] == "1.0"


@pytest.mark.parametrize(("length", "fits"), [(247, True), (248, False)])
def test_a_name_with_labels(project: Project, length: int, fits: bool) -> None:
    """Of several adapters each has its label in the name, which has to fit as well."""
    few = ("--corpus-components=llm", FEW, f"--corpus-report={'x' * length}.json")
    adapters = [f"--corpus-adapter={label}=pytest_corpus.reference:llm" for label in ("a", "bc")]
    result = project.run(*adapters, *few)
    if fits:
        assert (result.ret, len(list(project.path.glob("x*.json")))) == (0, 2)
    else:
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "File name too long" in error_lines(result)[0]


@pytest.mark.parametrize("again", ["r.json", "./r.json", "folder/../r.json", "link.json", "{here}/r.json"])
def test_two_reports_of_one_path(project: Project, again: str) -> None:
    """Two reports in one file are refused, however the path is spelt."""
    (project.path / "folder").mkdir()
    (project.path / "link.json").symlink_to("r.json")
    again = again.format(here=project.path)
    said = f"--corpus-report=r.json and --corpus-report={again}: two reports cannot be one file"
    assert refusal(project, "--corpus-report=r.json", f"--corpus-report={again}") == said


def test_path_that_becomes_unwritable(project: Project) -> None:
    """A report that cannot be written in the end is said clearly, and the exit code is not 0."""
    (project.path / "out").mkdir()
    project.adapter("import shutil\nclass Removing(Wrapped):\n    def close(self): shutil.rmtree('out', True)\n")
    result = project.run("--corpus-adapter=mine:Removing", FEW, "--corpus-report=out/r.json")
    assert result.ret == 1
    assert "could not be written: No such file or directory" in said(result)
    assert "Traceback" not in said(result)


SUFFIXES = tuple(formats.FORMATS)


def test_every_format_in_one_run(project: Project) -> None:
    """Each suffix gives its format, all from the same document; nothing is left beside them."""
    assert project.run(REFERENCE, FEW, *(f"--corpus-report=r{suffix}" for suffix in SUFFIXES)).ret == 0
    report = project.report("r.json")
    found = {path.name: path.read_text("utf-8") for path in project.path.iterdir() if path.is_file()}
    assert found == {f"r{suffix}": formats.render(report, suffix) for suffix in SUFFIXES}


def test_commit_and_ci_of_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names the commit and the CI run that the environment tells, and nothing else of it."""
    told = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": "a" * 40, "GITHUB_REPOSITORY": "me/mine", "GITHUB_RUN_ID": "7"}
    for name, value in {**told, "GITHUB_SERVER_URL": "https://github.com", "GITHUB_TOKEN": "canary-8f3"}.items():
        monkeypatch.setenv(name, value)
    project.run(REFERENCE, FEW, "--corpus-report=r.json")
    report = project.report()
    assert report["commit"] == "a" * 40
    assert report["ci"] == {"name": "GitHub Actions", "id": "7", "url": "https://github.com/me/mine/actions/runs/7"}
    assert "canary-8f3" not in (project.path / "r.json").read_text()


@pytest.mark.parametrize("distributed", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["alone", "xdist"])
@pytest.mark.parametrize("option", ["--corpus-report", "--junitxml"])
def test_junit(project: Project, option: str, distributed: tuple[str, ...]) -> None:
    """pytest's JUnit file has id, level and status of every requirement, and nothing else of ours."""
    plugins = ("xdist",) if distributed else ()
    assert project.run(REFERENCE, FEW, f"{option}=r.junit.xml", *distributed, plugins=plugins).ret == 0
    cases = list(ElementTree.parse(project.path / "r.junit.xml").iter("testcase"))
    assert cases
    for case in cases:
        found = {each.get("name"): each.get("value") for each in case.iter("property")}
        assert found == {"corpus_requirement": "COM-CAP-2", "corpus_level": "MUST", "corpus_status": "satisfied"}


def test_junit_of_a_failure(project: Project) -> None:
    """A failing test has its properties once, also where its teardown fails too, and its message is the finding."""
    project.adapter("@changes('llm.capabilities')\ndef Liar(answer): answer['result']['protocol'] = 'x'\n")
    failing = "import pytest\n@pytest.fixture(autouse=True)\ndef broken():\n    yield\n    raise OSError('teardown')\n"
    hook = "def pytest_corpus_adapter(config):\n    from mine import Liar\n    return Liar\n"
    project.pytester.makeconftest(failing + hook)
    project.pytester.makeini("[pytest]\npythonpath = .\n")
    result = project.run("--corpus-requirement=COM-CAP-*", "--corpus-components=llm", "--corpus-report=r.junit.xml")
    assert result.ret == 1
    text = (project.path / "r.junit.xml").read_text()
    assert '"adapter"' not in text
    assert "quot;adapter" not in text
    for case in ElementTree.fromstring(text).iter("testcase"):
        names = [each.get("name", "") for each in case.iter("property")]
        assert sorted(names) == sorted(set(names))
        assert set(names) <= {"corpus_requirement", "corpus_level", "corpus_status"}


@pytest.mark.parametrize(("given", "fault"), [
    (("--corpus-report=a.junit.xml", "--junitxml=b.xml"), "pytest writes one JUnit file a run; name one"),
    (("--corpus-report=a.junit.xml", "--corpus-report=b.junit.xml"), "pytest writes one JUnit file a run"),
    (("--corpus-report=a.junit.xml", "-p", "no:junitxml"), "junitxml, which writes it, is switched off"),
])  # fmt: skip
def test_junit_that_cannot_be(project: Project, given: tuple[str, ...], fault: str) -> None:
    """A JUnit file that pytest cannot write is a usage error of one line."""
    line = usage_error(project.run(REFERENCE, FEW, *given))
    assert fault in line
    assert list(project.path.glob("*.xml")) == []


@pytest.mark.parametrize(("labels", "report", "files"), [
    (["a/b c", "d"], "r.json", {"r.a_b_c.json", "r.d.json"}),
    (["a", "d"], "r.intoto.json", {"r.a.intoto.json", "r.d.intoto.json"}),
    (["a b", "a_b"], "r.json", {"r.a_b.json", "r.a_b.2.json"}),
], ids=["odd_names", "suffix_of_two_parts", "names_that_look_alike"])  # fmt: skip
def test_one_for_each_adapter(project: Project, labels: list[str], report: str, files: set[str]) -> None:
    """Several adapters have a report each: the label stands before the suffix, and two labels never share one file."""
    adapters = [f"--corpus-adapter={label}=pytest_corpus.reference:llm" for label in labels]
    assert project.run(*adapters, FEW, f"--corpus-report={report}").ret == 0
    assert {path.name for path in project.path.glob("r.*")} == files
    if report == "r.json":
        assert sorted(project.report(name)["adapter"]["name"] for name in files) == labels


def test_no_report_without_an_adapter(project: Project) -> None:
    """The setting alone neither writes nor fails a run that declares no adapter."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    project.pytester.makeini("[pytest]\ncorpus_report = r.json\n")
    assert project.run().ret == 0
    assert not (project.path / "r.json").exists()


def test_not_written_when_only_collecting(project: Project) -> None:
    """`--collect-only` says nothing about an adapter."""
    project.run(REFERENCE, "--collect-only", "--corpus-report=r.json")
    assert not (project.path / "r.json").exists()


def test_distributed(project: Project) -> None:
    """Only the controller writes, once."""
    result = project.run(REFERENCE, FEW, "--corpus-report=r.json", "-n", "1", plugins=("xdist",))
    assert result.ret == 0
    assert said(result).count("report: ") == 1
    assert [path.name for path in project.path.glob("*.json")] == ["r.json"]
