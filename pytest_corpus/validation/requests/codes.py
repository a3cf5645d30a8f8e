"""Schema problems by the codes and in the words of SCHEMA 11.2."""

import json
from typing import Any

from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.spec.validation_codes import VALIDATION_ERROR_CODES
from pytest_corpus.text.problems import Problem
from pytest_corpus.text.values import at
from pytest_corpus.validation.schema import registry as schema_registry


def validation_error(problem: Problem) -> tuple[str, str]:
    """The code of a schema problem, and its text, filled in.

    The code is the schema keyword that is broken. Where `VALIDATION_ERROR_CODES` has no text for it, or the rule
    cannot be read again, the text is that of the problem. No value of the instance stands in it.
    """
    template = VALIDATION_ERROR_CODES.get(problem.rule)
    filling = None if template is None else _filling(problem)
    if template is None or filling is None:
        return problem.rule, problem.message
    _, _, rest = template.partition("{")
    return problem.rule, template.format(**{rest.partition("}")[0]: filling})


def _filling(problem: Problem) -> str | None:
    if problem.rule in ("required", "additionalProperties"):
        return problem.path.rpartition(".")[2]
    wanted = _wanted(problem)
    if problem.rule == "type":
        names = [wanted] if isinstance(wanted, str) else wanted
        return " or ".join(names) if isinstance(names, list) and all(isinstance(n, str) for n in names) else None
    if problem.rule == "enum":
        return ", ".join(map(json.dumps, wanted)) if isinstance(wanted, list) else None
    return None if wanted is None or isinstance(wanted, list | dict) else str(wanted)


def _wanted(problem: Problem) -> Any:
    """The schema's value of the broken keyword; None if it cannot be found."""
    file, _, pointer = problem.location.partition("#/")
    if not file or pointer.rpartition("/")[2] != problem.rule:
        return None
    return at(schema_registry.get_schema(BASE_URI + file), f"/{pointer}")
