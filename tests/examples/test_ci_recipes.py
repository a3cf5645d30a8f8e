"""The recipes for CI and the project's own workflows: they parse, and what they call is real."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_action import install

from pytest_corpus import cli

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"
SHARDS = (
    CI / "kubernetes" / "shards.yaml",
    CI / "kubernetes" / "combine.yaml",
    CI / "github" / "bundles.yml",
    CI / "gitlab" / "bundles.gitlab-ci.yml",
)
"""The recipes of bundles in shards."""

GITHUB = (CI / "github" / "conformance.yml", SHARDS[2], *sorted((ROOT / ".github" / "workflows").glob("*.yml")))


def texts(value: Any) -> Iterator[str]:
    """The scripts in a workflow or pipeline."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("run", "script"):
                yield from [item] if isinstance(item, str) else item
            else:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def commands(*programs: str) -> list[list[str]]:
    """Every call of these programs in the recipes, as words."""
    found = [
        text
        for path in (GITHUB[0], CI / "gitlab" / ".gitlab-ci.yml")
        for text in texts(yaml.safe_load(path.read_text()))
    ]
    tox = ConfigParser(interpolation=None)
    tox.read(CI / "tox.ini")
    found += [tox[name]["commands"] for name in tox.sections() if "commands" in tox[name]]
    lines = [line.replace("{posargs}", "") for text in found for line in text.splitlines()]
    return [words for line in lines if (words := shlex.split(line)) and words[0] in programs]


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_workflows_parse(path: Path) -> None:
    """Each has triggers, least permissions, and jobs with a time limit, whose steps do one thing each."""
    workflow = yaml.safe_load(path.read_text())
    assert workflow[True]
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 30
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"[\w./-]+@[\w./]+", step.get("uses", "a/b@v1"))


def test_gitlab_parses() -> None:
    """Each job of the pipeline has an image, a script and a stage that there is."""
    pipeline = yaml.safe_load((CI / "gitlab" / ".gitlab-ci.yml").read_text())
    stages = pipeline.pop("stages")
    assert all(job["stage"] in stages and job["image"] and job["script"] for job in pipeline.values())


def test_the_page_shows_the_recipes_themselves() -> None:
    """docs/ci.md includes and links each file, and has no copy of its own."""
    page = (ROOT / "docs" / "ci.md").read_text()
    found = [path for path in CI.rglob("*") if path.is_file() and path.suffix != ".md"]
    files = [path.relative_to(ROOT).as_posix() for path in found]
    assert len(files) == 7
    shown = [path.relative_to(ROOT).as_posix() for path in found if path not in SHARDS]
    assert sorted(re.findall(r"\{literalinclude\} \.\./(\S+)", page)) == sorted(shown)
    assert all(f"(../{name})" in page for name in files)
    assert page.count("runs-on") == 1  # the workflow that uses the action


def test_publishing_holds_no_token() -> None:
    """Only the job that publishes may ask for an identity, and no secret is named."""
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text()
    assert "secrets." not in text
    jobs = yaml.safe_load(text)["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]


def test_make_targets_of_the_workflows_exist() -> None:
    """The Makefile has every target that the workflows make."""
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    said = re.findall(r"run: make ([\w-]+)", "".join(path.read_text() for path in GITHUB))
    assert said
    assert set(said) <= known


def test_options_of_pytest_exist(pytestconfig: pytest.Config) -> None:
    """Every option that a recipe gives pytest is one of pytest's, of xdist's or of this plugin's."""
    found = commands("pytest")
    assert len(found) == 3
    known = set(pytestconfig._parser.optparser._option_string_actions)
    for words in found:
        assert {word.partition("=")[0] for word in words[1:] if word.startswith("-")} <= known


def test_commands_of_the_recipes_parse() -> None:
    """Every call of `pytest-corpus` is one that its parser accepts."""
    found = commands("pytest-corpus")
    assert len(found) == 5
    for words in found:
        parser, *_ = cli._make_parsers(words[1])
        assert parser.parse_args(words[1:])


def test_the_hook_is_lint() -> None:
    """A commit is checked by `make lint`, which brings its own tools."""
    [hook] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert hook["entry"] == "make lint"


def manifests(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((CI / "kubernetes" / name).read_text()))


def container(name: str) -> dict[str, Any]:
    [found] = manifests(name)[-1]["spec"]["template"]["spec"]["containers"]
    assert found["command"] == ["sh", "-ec"]
    return dict(found)


@pytest.mark.parametrize("name", ["shards.yaml", "combine.yaml"])
def test_the_manifests_keep_to_the_schemas_of_kubernetes(name: str) -> None:
    """Every object is valid, without unknown keys, and the shards are as many as the pods."""
    validator = pytest.importorskip("kubernetes_validate")
    for each in manifests(name):
        validator.validate(each, "1.31", strict=True)
    with pytest.raises(validator.ValidationError):
        validator.validate(manifests(name)[-1] | {"spec": {"completionMode": "Indexed"}}, "1.31", strict=True)
    spec = manifests("shards.yaml")[-1]["spec"]
    settings = {each["name"]: each.get("value") for each in container("shards.yaml")["env"]}
    assert (spec["completionMode"], spec["completions"], str(spec["completions"])) == ("Indexed", 8, settings["SHARDS"])


def kubernetes() -> tuple[list[tuple[str, dict[str, str]]], str]:
    given = [{"JOB_COMPLETION_INDEX": str(number), "SHARDS": "2", "RUN": "first"} for number in range(2)]
    return [(container("shards.yaml")["args"][0], each) for each in given], container("combine.yaml")["args"][0]


def github() -> tuple[list[tuple[str, dict[str, str]]], str]:
    jobs = yaml.safe_load(SHARDS[2].read_text())["jobs"]
    assert (
        jobs["shard"]["env"]["SHARD"] == f"${{{{ matrix.shard }}}}/{len(jobs['shard']['strategy']['matrix']['shard'])}"
    )
    ask, judge = ("\n".join(texts(jobs[name])) for name in ("shard", "combine"))
    return [(ask, {"SHARD": f"{number}/2"}) for number in (1, 2)], judge


def gitlab() -> tuple[list[tuple[str, dict[str, str]]], str]:
    pipeline = yaml.safe_load(SHARDS[3].read_text())
    ask, judge = ("\n".join(texts(pipeline[name])) for name in ("shards", "combine"))
    return [(ask, {"CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": "2"}) for number in (1, 2)], judge


@pytest.mark.parametrize(
    "recipe", [kubernetes, pytest.param(github, marks=pytest.mark.slow), pytest.param(gitlab, marks=pytest.mark.slow)]
)
def test_the_commands_of_a_recipe_judge_all_shards(tmp_path: Path, recipe: Any) -> None:
    """Run as processes of their own, two shards are green although a case fails, and the last step is red."""
    assert cli.main(["bundle", "init", str(tmp_path / "bundles" / "qa")]) == 0
    with (tmp_path / "bundles" / "qa" / "dataset.jsonl").open("a") as file:
        file.write('{"id": "none", "input": {"question": "?", "text": "?"}}\n')
    path = install(tmp_path / "bin")
    asks, judge = recipe()

    def run(script: str, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
        here = {"PATH": path, "PYTHONPATH": str(ROOT), **settings}
        command = ["sh", "-ec", script.replace("/results", str(tmp_path / "results"))]
        return subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=300, check=False)

    for script, settings in asks:
        done = run(script, settings)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(judge, {"RUN": "first"})
    assert "qa (mock): failed; 2/3 cases passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1
    assert len(list(tmp_path.rglob("*.html"))) == 1
