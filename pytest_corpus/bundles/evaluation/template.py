"""Prompt templates: Jinja in a sandbox, with the same budget as invariants (R81). Undefined names are errors."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_corpus.bundles.evaluation.values import BudgetError, OperationError, describe_exception

LONGEST = 2**20
"""The largest length of a template's source, in characters."""


class TemplateError(Exception):
    """A template that cannot be read or rendered. The message is the end of a sentence."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Template:
    """The source of a template, and the name of its file in messages."""

    source: str
    file: str

    @cached_property
    def _compiled(self) -> Any:
        if len(self.source) > LONGEST:
            raise TemplateError(f"is longer than {LONGEST:,} characters")
        import jinja2

        from pytest_corpus.bundles.evaluation import jinja_sandbox

        try:
            return jinja_sandbox.compile_template(self.source)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"is not a valid template: {error.message}", error.lineno) from None
        except (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError):
            raise TemplateError("cannot be parsed") from None

    def check(self) -> None:
        """Compile the template. Raises TemplateError if it is not valid."""
        _ = self._compiled

    def render(self, variables: Mapping[str, Any]) -> str:
        """Render the prompt of one case. Raises TemplateError if a variable is missing or an operation is refused."""
        compiled = self._compiled
        import jinja2

        from pytest_corpus.bundles.evaluation import jinja_sandbox

        try:
            return jinja_sandbox.render(compiled, variables)
        except jinja2.UndefinedError as error:
            raise TemplateError(
                f"{error.message}; the input of the case does not hold it", _template_line(error)
            ) from None
        except jinja2.exceptions.SecurityError as error:
            raise TemplateError(f"is refused: {error}", _template_line(error)) from None
        except (BudgetError, OperationError) as error:
            raise TemplateError(str(error), _template_line(error)) from None
        except RecursionError:
            raise TemplateError("calls itself too often") from None
        except Exception as error:  # noqa: BLE001 - a filter raises what Python does
            raise TemplateError(f"cannot be rendered: {describe_exception(error)}", _template_line(error)) from None


def _template_line(error: BaseException) -> int | None:
    """Return the line of the template that raised an exception, or None. Jinja puts this line into tracebacks."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return lines[-1] if lines else None
