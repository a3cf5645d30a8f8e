"""Profiles of runs, and their limits in production (BEHAVIORAL_CONFORMANCE 2, 8)."""

from collections.abc import Mapping
from dataclasses import dataclass

ENVIRONMENT = "CORPUS_TEST_ENV"
"""The environment variable that names the adapter's environment: local, ci, staging, production ..."""

PRODUCTION = ("production", "prod")


@dataclass(frozen=True, slots=True)
class Profile:
    """The amount of tests in a run, and the time that each call may take.

    Attributes:
        call_timeout: the default number of seconds until a call is abandoned.
        smoke: run one core test of each requirement.
        stress: run the load tests too.
    """

    name: str
    call_timeout: float = 30.0
    smoke: bool = False
    stress: bool = False


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("quick", call_timeout=10.0, smoke=True),
        Profile("dev"),
        Profile("ci"),
        Profile("stress", stress=True),
    )
}


def usual(environment: Mapping[str, str]) -> str:
    """The default profile: `ci` if CI is set, else `dev`."""
    return "ci" if environment.get("CI") else "dev"


def on_github(environment: Mapping[str, str]) -> bool:
    """True if this is a step of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS", "").lower() not in ("", "false", "0")


def is_production(environment: Mapping[str, str]) -> bool:
    """True if the adapter talks to production."""
    return environment.get(ENVIRONMENT, "").strip().lower() in PRODUCTION


def refusal(profile: Profile, environment: Mapping[str, str]) -> str:
    """The reason to refuse a profile in an environment; empty if it may run."""
    if not is_production(environment) or profile.smoke:
        return ""
    return (
        f"{ENVIRONMENT} is {environment[ENVIRONMENT].strip()}, which the profile {profile.name!r} must not test: use "
        "--corpus-profile=quick, which then only reads, or --corpus-allow-production"
    )
