"""Every normative sentence of the documents, and the requirements that test it."""

from collections import Counter
from collections.abc import Iterator

from pytest_corpus.spec.coverage import MODULES, REASONS, TOOLS, Sentence, sentences
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue
from site_pages.markdown import table

HEAD = """# Coverage

Every normative sentence of the four documents, in our own short words, with the requirements that test it. Keywords
such as MUST and SHOULD make a sentence normative; so do the rows of tables and lists, and the types of printed
schemas. *partly* names the part of a sentence that no requirement tests. If nothing tests a sentence, the reason
follows. A star marks a requirement that is only a SHOULD. A sentence of several documents is counted in each.

The table is `pytest_corpus/spec/coverage/`.
"""


def pages() -> dict[str, str]:
    """The page, by its path below docs/."""
    documents = (line for document in MODULES for line in _document(document))
    return {"documents/coverage.md": "\n".join([HEAD, *_summary(), *documents])}


def _summary() -> Iterator[str]:
    everything = tuple(sentence for document in MODULES for sentence in sentences(document))
    counts = [*((document, sentences(document)) for document in MODULES), ("all", everything)]
    yield table(("document", "sentences", "tested", "partly", "not"), (_counts(*each) for each in counts))
    yield "Reasons why a sentence is not tested:\n"
    reasons = Counter(sentence.reason for sentence in everything if sentence.reason)
    yield table(("reason", "sentences"), ((f"it {reason}", str(reasons[reason])) for reason in REASONS.values()))
    yield "Besides requirements, these test sentences:\n"
    yield table(("name", "what it is"), TOOLS.items())


def _counts(name: str, counted: tuple[Sentence, ...]) -> tuple[str, ...]:
    found = Counter(sentence.status for sentence in counted)
    return name, str(len(counted)), *(str(found[status]) for status in ("asked", "partly", "not"))


def _document(document: str) -> Iterator[str]:
    yield f"## {document}\n"
    silent = []
    for number, title in SECTIONS[document].items():
        here = [sentence for sentence in sentences(document) if sentence.section == number]
        others = _others(document, number)
        if not here and not others:
            silent.append(number)
            continue
        yield f"### {number} {title}\n"
        rows = ((sentence.level, sentence.text, _tested_by(sentence)) for sentence in here)
        yield table(("level", "sentence", "tested by"), rows)
        if others:
            yield f"Other requirements that cite this section: {', '.join(map(_name, others))}.\n"
    yield f"Sections without a normative sentence, or with subsections alone: {', '.join(silent)}.\n"


def _others(document: str, section: str) -> list[str]:
    """The requirements that cite a section but stand at no sentence of it or of its subsections."""
    near = (each for each in sentences(document) if f"{each.section}.".startswith(f"{section}."))
    named = {each for sentence in near for each in sentence.asked_by}
    citing = (entry.id for entry in catalogue().values() if f"{document} {section}" in entry.source)
    return [each for each in citing if each not in named]


def _tested_by(sentence: Sentence) -> str:
    if sentence.reason:
        return f"**not**: it {sentence.reason}"
    order = [*catalogue(), *TOOLS]
    names = ", ".join(_name(each) for each in sorted(sentence.asked_by, key=order.index))
    return f"*partly* {names}; not: {sentence.missing}" if sentence.missing else names


def _name(asking: str) -> str:
    weak = asking in catalogue() and catalogue()[asking].level != "MUST"
    return f"{asking}\\*" if weak else asking
