"""Migration of envelopes from one major schema version to the next (SCHEMA 10.2)."""

import copy
import re
from typing import Any, Final

_VERSION: Final = "schema_version"
_COMPLETING: Final = ("llm.complete", "llm.stream")


class MigrationError(ValueError):
    """An envelope that cannot be migrated. One sentence gives the reason and shows no content."""


class SchemaMigrator:
    """Migrations of single messages. They return a new object and do not change the argument."""

    @staticmethod
    def migrate_llm_envelope_v1_to_v2(v1_envelope: dict[str, Any]) -> dict[str, Any]:
        """Convert an LLM request envelope from version 1 to 2.0.0 (SCHEMA 10.2).

        ``args.prompt`` becomes the only user message in ``args.messages``, and ``schema_version`` becomes ``2.0.0``. If
        a request has no ``args.prompt``, only the version changes.

        Raises:
            MigrationError: the envelope is not a JSON object or not an LLM request; its version is not 1; ``args`` is
                not an object; ``args.prompt`` is not a string or comes with ``args.messages``; or a completion has
                no ``args.prompt`` and no ``args.messages``.
        """
        if not isinstance(v1_envelope, dict):
            raise MigrationError(f"an envelope must be a JSON object, not a {type(v1_envelope).__name__}")
        version = v1_envelope.get(_VERSION, "1.0.0")
        if not (isinstance(version, str) and re.fullmatch(r"1(\.[0-9]+){0,2}", version)):
            raise MigrationError(
                "schema_version must be 1, such as 1.0.0, or absent: this envelope is not of version 1"
            )
        args = v1_envelope.get("args", {})
        if not isinstance(args, dict):
            raise MigrationError(f"args must be a JSON object, not a {type(args).__name__}")
        op = v1_envelope.get("op")
        if op is not None and not (isinstance(op, str) and op.startswith("llm.")):
            raise MigrationError("op must be an operation of llm: no other envelope is migrated")
        if "prompt" in args and "messages" in args:
            raise MigrationError("args has both prompt and messages, and one would be lost: remove one of them")
        if "prompt" in args and not isinstance(args["prompt"], str):
            raise MigrationError(f"args.prompt must be a string, not a {type(args['prompt']).__name__}")
        if not {"prompt", "messages"} & args.keys() and (op is None or op in _COMPLETING):
            raise MigrationError(
                "args has neither prompt nor messages: this is not a completion that could be migrated"
            )
        migrated = copy.deepcopy(v1_envelope)
        if "prompt" in args:
            migrated["args"]["messages"] = [{"role": "user", "content": migrated["args"].pop("prompt")}]
        migrated[_VERSION] = "2.0.0"
        return migrated
