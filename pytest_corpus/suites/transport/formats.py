"""Which formats of streams an adapter at an HTTP address offers (R87)."""

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.spec.transports import STREAM_TYPES
from pytest_corpus.suites.transport.exchanges import Seen, answered, is_busy, refuses, stream


def is_offered(subject: Subject, kind: str) -> bool:
    """Whether a plain stream comes in a format, under whatever content type; one that is answered in another does not.

    Raises:
        Blocked, NotAssessed: it cannot be found out.
    """
    seen = answered(stream(subject, kind))
    bodies = seen.bodies
    if bodies and is_busy(bodies[0]):
        raise NotAssessed("a plain stream is refused, and not for its format")
    if refuses(seen):
        return False
    others = [each for each in STREAM_TYPES.values() if each != kind]
    in_another = seen.answer.content_type in others and bool(bodies) and all(isinstance(each, dict) for each in bodies)
    return not in_another


def offered(subject: Subject, kind: str) -> Seen:
    """A plain stream in a format.

    Raises:
        NotApplicable: the format is not offered.
        Blocked, NotAssessed: it cannot be found out.
    """
    if not is_offered(subject, kind):
        raise NotApplicable(f"{kind} is not offered")
    return stream(subject, kind)
