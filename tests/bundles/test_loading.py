"""Reading a bundle: everything that can be wrong is one sentence with file and line, before any call."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from samples import SEED, bundle, echo, write

from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.bundle import default_id
from pytest_corpus.bundles.loading.bundle_file import load_bundle

GOOD = {"bundle.yaml": SEED, "prompt.md": "Q: {{ q }}", "data.jsonl": '{"input": {"q": 1}}\n'}

Files = dict[str, str]


def more(text: str) -> Files:
    """A bundle.yaml with more at its end."""
    return {"bundle.yaml": f"{SEED}{text}\n"}


def held(metric: str, more_of_it: str) -> Files:
    """A bundle.yaml with a threshold."""
    return more(f"thresholds:\n  - {{metric: {metric}, {more_of_it}}}")


def other(old: str, new: str) -> Files:
    return {"bundle.yaml": SEED.replace(old, new)}


def lines(*texts: str) -> Files:
    return {"data.jsonl": "\n".join((*texts, ""))}


def expects(how: str, value: str) -> Files:
    """A case with an expectation, in a bundle that compares in a certain way."""
    return more(f"output_contract:\n  expected_match: {how}") | lines(
        f'{{"input": {{"q": 1}}, "expected_output": {value}}}'
    )


def contract(text: str, schema: str = "") -> Files:
    return more(f"output_contract:\n  {text}") | {"s.json": schema}


def schema(text: str) -> Files:
    return contract("schema_path: s.json", text)


def scorers(text: str) -> Files:
    return contract(f"scorers: [{{name: a, {text}}}]") | {"empty.md": " "}


def variants(text: str) -> Files:
    return more(f"provider: {{name: mock}}\nvariants: {text}") | {"other.md": "{{ missing }}"}


GOOD_LINE = '{"input": {"q": 1}}'
BOMB = "".join(f"{y}: &{y} [{','.join(['*' + x] * 10)}]\n" for x, y in zip("abcdef", "bcdefg", strict=True))
ONE = 'thresholds: [{metric: pass_rate, operator: ">=", value: 1}]'
NO_QUOTES = "thresholds:\n  - metric: pass_rate\n    operator: {}\n    value: 0.9"
AROUND = '{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}'
TWICE = 'operator: ">=", value: 1}\n  - {metric: pass_rate, operator: ">=", value: 1.0'

WRONG: dict[str, tuple[Files, str]] = {
    "unknown key": (more("treshold: []"), "bundle.yaml:4: unknown key 'treshold'; did you mean 'threshold"),
    "unknown nested key": (more("provider:\n  name: mock\n  modell: x"), "bundle.yaml:6: unknown key 'modell'; did you mean 'model'?"),
    "missing key": ({"bundle.yaml": "name: x\nprompt_path: prompt.md\n"}, "the key 'dataset_path' is missing"),
    "bad yaml": (more("x: [1"), "bundle.yaml:5: is not valid YAML"),
    "key twice": (more("name: y"), "bundle.yaml:4: the key 'name' appears twice; it is in line 1"),
    "version is a number": (more("version: 1.0"), "bundle.yaml:4: version is 1.0, and must be text; quote it"),
    "wrong type": (more("parallel: 3"), "bundle.yaml:4: parallel is 3, and must be true or false"),
    "yaml of brackets": ({"bundle.yaml": "a: " + "[" * 100_000}, "bundle.yaml:1: is nested deeper than 50 levels"),
    "yaml of many values": ({"bundle.yaml": f"a: [{'{},' * 45_000}]"}, "bundle.yaml:1: holds more than 20,000 values"),
    "number in base 60": ({"bundle.yaml": "a: 1" + ":59" * 100_000}, "bundle.yaml:1: holds a number of more than 1,000"),
    "binary number": ({"bundle.yaml": "a: 0b" + "1" * 100_000}, "bundle.yaml:1: holds a number of more than 1,000"),
    "number as a key": ({"bundle.yaml": "? 1" + ":59" * 400 + "\n: 1"}, "bundle.yaml:1: holds a number of more than 1,000"),
    "yaml bomb": ({"bundle.yaml": f"a: &a [1,1,1,1,1,1,1,1,1,1]\n{BOMB}"}, "values; aliases count each time"),
    "yaml tag": (more("x: !!python/object/apply:os.system ['true']"), "a bundle holds plain values"),
    "empty": ({"bundle.yaml": ""}, "is empty"),
    "no number": (more("timeout: .nan"), "bundle.yaml:4: holds .nan, which is not a JSON number"),
    "merged": ({"bundle.yaml": "a: &a {b: 1}\nc:\n  <<: *a\n"}, "bundle.yaml:3: merges another mapping"),
    "no quotes": (more(NO_QUOTES.format(">=")), 'bundle.yaml:6: is not valid YAML: an operator stands without quotes; write ">="'),
    "no quotes, folded": (more(NO_QUOTES.format(">")), """bundle.yaml:6: thresholds.0.operator is ''; write ">" with quotes"""),
    "path of a name too long": (other("data.jsonl", "a" * 5000), "bundle.yaml:3: 'aaa"),
    "missing file": (other("data.jsonl", "none.jsonl"), "bundle.yaml:3: there is no file 'none.jsonl'"),
    "path out of the folder": (other("prompt.md", "../prompt.md"), "leaves the folder of the bundle"),
    "absolute path": (other("prompt.md", "/etc/passwd"), "is an absolute path"),
    "empty dataset": (lines("", ""), "data.jsonl: has no cases"),
    "bad line": (lines(GOOD_LINE, '{"input": '), "data.jsonl:2: "),
    "duplicate key in a line": (lines('{"input": {"q": 1, "q": 2}}'), "appears twice in one object"),
    "no input": (lines('{"id": "a"}'), "data.jsonl:1: the key 'input' is missing"),
    "unknown key in a line": (lines('{"input": {"q": 1}, "expected": 1}'), "unknown key 'expected'; did you mean 'expected_output'?"),
    "duplicate ids": (
        lines('{"id": "a", "input": {"q": 1}}', "", '{"id": "a", "input": {"q": 2}}'),
        "data.jsonl:3: the id 'a' is in line 1 already",
    ),
    "one input twice": (lines(GOOD_LINE, GOOD_LINE), "data.jsonl:2: the same input without an id is in line 1 already"),
    "template": ({"prompt.md": "a\n{{ q"}, "prompt.md:2: is not a valid template"),
    "missing variable": ({"prompt.md": "a\n{{ other }}"}, "data.jsonl:1: the case 'case-"),
    "invariant": (
        contract("invariants:\n    - 'len(raw_output) < 5'\n    - 'ouput > 1'"),
        "bundle.yaml:7: the invariant 'ouput > 1' the name 'ouput' is not known; did you mean 'output'?",
    ),
    "invariant of a line": (lines('{"input": {"q": 1}, "invariants": ["eval(1)"]}'), "data.jsonl:1: the invariant"),
    "metric": (
        held("pas_rate", 'operator: ">=", value: 1'), "bundle.yaml:5: the metric 'pas_rate' is not known; did you mean 'pass_rate'?"
    ),
    "rate": (held("pass_rate", 'operator: ">=", value: 90'), "pass_rate is a rate from 0 to 1, and is held to 90"),
    "operator": (held("pass_rate", 'operator: "=>", value: 1'), "thresholds.0.operator is '=>'"),
    "threshold without a value": (held("pass_rate", 'operator: ">="'), "the key 'value' is missing in thresholds.0"),
    "threshold twice": (held("pass_rate", TWICE), "appears twice, in line 5 already"),
    "confidence of a sum": (held("total_tokens", 'operator: "<=", value: 9, confidence: 0.9'), "takes no confidence"),
    "confidence of ==": (held("pass_rate", 'operator: "==", value: 1, confidence: 0.9'), "takes no confidence"),
    "no confidence": (held("pass_rate", 'operator: ">=", value: 1, on_undecided: fail'), "on_undecided needs a confidence"),
    "stop without confidence": (more(f"stop: decided\n{ONE}"), "needs a confidence in the threshold pass_rate>=1"),
    "stop without thresholds": (more("stop: decided"), "stop: decided needs thresholds"),
    "samples": (more("samples: {at_least: 3, at_most: 2}"), "samples.at_least is 3, and at_most only 2"),
    "schema is not JSON": (schema("{"), "s.json: is not valid JSON"),
    "schema is unsound": (schema('{"type": "objct"}'), "is not a valid JSON Schema"),
    "pattern in a schema": (schema('{"properties": {"a": {"pattern": "("}}}'), "at properties/a/pattern: \"(\" is not"),
    "pattern in another file": (
        {**schema('{"items": {"$ref": "o.json#/$defs/n"}}'), "o.json": '{"$defs": {"n": {"pattern": "("}}}'}, "o.json: is not a valid JSON Schema, at $defs/n/pattern"
    ),
    "unknown draft": (schema('{"$schema": "http://example.com/draft"}'), "which is not a known draft"),
    "dangling reference": (schema('{"$ref": "#/$defs/x"}'), "leads nowhere"),
    "endless reference": (schema(AROUND), "leads back to itself"),
    "reference to the network": (schema('{"$ref": "https://example.com/x.json"}'), "leaves the folder of the bundle"),
    "reference out of the folder": (schema('{"$ref": "file:///etc/passwd"}'), "leaves the folder of the bundle"),
    "regex": (expects("regex", '"("'), "the pattern is not a valid regular expression"),
    "contains an object": (expects("contains", "{}"), "must be a text for expected_match contains"),
    "more passing than samples": (more("samples: 2\nmin_passing: 3"), "there are only 2 samples"),
    "not UTF-8": ({}, "is not UTF-8"),
    **{f"scorer {given}": (scorers(given), said) for given, said in (
        ("similarity: {model: m}", "the scorer 'a' needs a minimum"),
        ("minimum: 1, similarity: {}", "the key 'model' is missing in output_contract.scorers.0.similarity"),
        ("minimum: 1, rubric: {path: none.md, provider: {name: mock}}", "there is no file 'none.md'"),
        ("minimum: 1, rubric: {path: empty.md, provider: {name: mock}}", "the rubric 'empty.md' is empty"),
        ("minimum: 1, rubric: {path: prompt.md}", "the key 'provider' is missing in"),
        ("minimum: 1, similarity: {model: m}, rubric: {path: prompt.md, provider: {name: mock}}", "the scorer 'a' is either a similarity or a rubric"),
        ("minimum: 1, rubric: {path: prompt.md, provider: {name: mock}, samples: 0}", "must be at least 1"),
    )},
    **{f"variants {given}": (variants(given), said) for given, said in (
        ("{}", "variants is empty"),
        ("{prompts: {}}", "variants.prompts is empty"),
        ("{compare_with: x}", "variants needs prompts or models"),
        ("{promts: {a: prompt.md}}", "unknown key 'promts'; did you mean 'prompts'?"),
        ("{prompts: {a b: prompt.md}}", "the name 'a b' in variants.prompts must consist of letters, digits"),
        ("{prompts: {a: none.md}}", "there is no file 'none.md'"),
        ("{prompts: {a: {system_path: prompt.md}}}", "the key 'prompt_path' is missing in variants.prompts.a"),
        ("{prompts: {a: prompt.md}, compare_with: b}", "compare_with is 'b'; "),
        ("{models: {a: 1}}", "variants.models.a is 1, and must be text or a mapping"),
        ("{models: {a: {temprature: 1}}}", "unknown key 'temprature'; did you mean 'temperature'?"),
        ("{prompts: {a: other.md}}", "makes no prompt"),
    )},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(tmp_path: Path, name: str) -> None:
    """Each mistake is one sentence that names file, line and cure."""
    files, said = WRONG[name]
    path = write(tmp_path, {**GOOD, **files})
    if name == "not UTF-8":
        (tmp_path / "prompt.md").write_bytes(b"caf\xe9 {{ q }}")
    with pytest.raises(BundleError) as found:
        load_bundle(path)
    assert said in str(found.value)
    assert len(found.value.problems) == 1
    assert "Traceback" not in str(found.value)


def test_links_that_leave_the_folder(tmp_path: Path) -> None:
    """A link to a file elsewhere is refused."""
    path = write(tmp_path / "b", GOOD)
    (tmp_path / "secret.md").write_text("x")
    (tmp_path / "b" / "prompt.md").unlink()
    (tmp_path / "b" / "prompt.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(BundleError, match="leaves the folder"):
        load_bundle(path)


def test_references_inside_the_folder(tmp_path: Path) -> None:
    """A schema may refer to itself and to another file of the folder, also in circles that consume the value."""
    tree = '{"type": "object", "properties": {"next": {"$ref": "#"}, "name": {"$ref": "defs/name.json#/$defs/n"}}}'
    path = write(tmp_path, {**GOOD, **schema(tree), "defs/name.json": '{"$defs": {"n": {"type": "string"}}}'})
    found = load_bundle(path).contract.schema
    assert found is not None
    assert found.violations({"next": {"next": {"name": "x"}}}) == []
    assert [each.path for each in found.violations({"next": {"name": 1}})] == [("next", "name")]


DRAFTS = {
    "http://json-schema.org/draft-04/schema#": {"minimum": 1, "exclusiveMinimum": True},
    "http://json-schema.org/draft-07/schema#": {"exclusiveMinimum": 1},
    "https://json-schema.org/draft/2020-12/schema": {"exclusiveMinimum": 1},
}


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_schema_counts_under_its_own_draft(tmp_path: Path, draft: str) -> None:
    """`$schema` decides which draft holds (R43)."""
    text = json.dumps({"$schema": draft, **DRAFTS[draft]})
    found = load_bundle(write(tmp_path, {**GOOD, **schema(text)})).contract.schema
    assert found is not None
    assert found.violations(1)
    assert not found.violations(2)


@pytest.mark.parametrize("name", ["my schema.json", "é#1%20.json", "sub/s.json"])
def test_a_schema_may_have_any_file_name(tmp_path: Path, name: str) -> None:
    """Names that are not valid URIs as they are lead to their files, too."""
    path = bundle(tmp_path, [echo(0)], f"output_contract: {{schema_path: '{name}'}}\n")
    write(tmp_path, {name: '{"$ref": "#/$defs/y", "$defs": {"y": {"type": "string"}}}'})
    found = load_bundle(path).contract.schema
    assert found is not None
    assert (found.violations("x"), len(found.violations(1))) == ([], 1)


def test_whole_numbers_may_have_a_point(tmp_path: Path) -> None:
    """3.0 is a whole number, as in JSON Schema."""
    more = "samples: 3.0\nmax_parallel: 2.0\nprovider: {name: mock, max_tokens: 9.0, temperature: 0.0}\n"
    found = load_bundle(bundle(tmp_path, [echo(0)], more))
    assert repr((found.samples, found.max_parallel, found.provider and found.provider.max_tokens)) == "(3, 2, 9)"


def test_a_variable_may_have_any_name(tmp_path: Path) -> None:
    """The names of parameters of Jinja's own functions are names like any other."""
    case = {"input": {"self": 1, "context": 2, "args": 3, "name": "x", "my key": 4}}
    found = load_bundle(bundle(tmp_path, [case], "", prompt_md="{{ context }} {{ args }} {{ name }}"))
    assert found.prompts(found.cases[0])[0] == "2 3 x"


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    """A file that an editor of Windows saved is read."""
    path = write(tmp_path, GOOD)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_bundle(path).name == "qa"


def test_ids_do_not_change_with_the_process() -> None:
    """The id of an unnamed case is a hash of its input, whatever the order of keys and the seed of hashing."""
    here = default_id({"b": [1, {"y": 2, "x": 1}], "a": "ä"})
    code = "from pytest_corpus.bundles.loading.bundle import default_id; print(default_id({'a': 'ä', 'b': [1, {'x': 1, 'y': 2}]}))"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
        )  # fmt: skip
        assert done.stdout.strip() == here


def test_every_problem_is_named(tmp_path: Path) -> None:
    """A bundle with several mistakes names all of them at once."""
    lines = '{"input": 1}\n{"id": 2, "input": {}}\n'
    path = write(tmp_path, {**GOOD, "data.jsonl": lines, "prompt.md": "{{ q"})
    with pytest.raises(BundleError) as found:
        load_bundle(path)
    assert len(found.value.problems) == 3


def test_a_sound_one_is_read(tmp_path: Path) -> None:
    """Defaults are those of the document and the rulings."""
    found = load_bundle(bundle(tmp_path, [echo(1)]))
    assert (found.timeout, found.retries, found.parallel, found.max_parallel, found.samples) == (30, 0, False, 4, 1)
    assert found.prompts(found.cases[0]) == ("Q: 1", None)
