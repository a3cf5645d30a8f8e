"""`--corpus-seed` and `corpus_seed`."""

import pytest
from inner_runs import Project, said

FEW = "--corpus-requirement=LLM-TOKENS-2,LLM-TOKENS-3"

RECORDING = """
@before("llm.count_tokens")
def Recording(adapter, envelope):
    with open("texts.txt", "ab") as file:
        file.write(repr(envelope["args"].get("text")).encode("utf-8", "backslashreplace") + b"\\n")
"""


def test_same_inputs_for_the_same_seed(project: Project) -> None:
    """A seed makes the generated inputs repeatable, and another seed makes others."""
    project.adapter(RECORDING)
    texts = {}
    for number, seed in enumerate((3, 3, 4)):
        project.run("--corpus-adapter=mine:Recording", FEW, f"--corpus-seed={seed}")
        texts[number] = (project.path / "texts.txt").read_bytes()
        (project.path / "texts.txt").unlink()
    assert len(texts[0].splitlines()) > 20
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


@pytest.mark.slow
def test_randomly_does_not_reseed(project: Project) -> None:
    """pytest-randomly's own seed does not change what is generated."""
    project.adapter(RECORDING)
    texts = []
    for seed in ("1", "2"):
        result = project.run_apart(
            "--corpus-adapter=mine:Recording",
            "--corpus-requirement=LLM-TOKENS-2",
            f"--randomly-seed={seed}",
            plugins=("randomly",),
        )
        assert result.ret == 0, said(result)
        texts.append(sorted((project.path / "texts.txt").read_bytes().splitlines()))
        (project.path / "texts.txt").unlink()
    assert texts[0] == texts[1]
