"""Environment profiles, and what may not be run against production (BEHAVIORAL_CONFORMANCE 2, 8)."""

from collections.abc import Mapping
from dataclasses import dataclass

ENVIRONMENT = "CORPUS_TEST_ENV"
"""The environment variable that says what the adapter talks to, such as local, ci, staging or production."""

PRODUCTION = ("production", "prod")


@dataclass(frozen=True, slots=True)
class Profile:
    """How much of the suite is run, and how patiently.

    Attributes:
        call_timeout: seconds after which a call is given up, unless the user says otherwise.
        smoke: only one core test of each requirement.
        stress: also the tests that load the adapter.
        sent_length: how many characters of a request a message shows.
    """

    name: str
    call_timeout: float = 30.0
    smoke: bool = False
    stress: bool = False
    sent_length: int = 400


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("quick", call_timeout=10.0, smoke=True),
        Profile("dev", sent_length=2_000),
        Profile("ci"),
        Profile("stress", stress=True),
    )
}


def usual(environment: Mapping[str, str]) -> str:
    """The profile of a run that names none: `ci` where CI is set, else `dev`."""
    return "ci" if environment.get("CI") else "dev"


def on_github(environment: Mapping[str, str]) -> bool:
    """True if this is a step of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS", "").lower() not in ("", "false", "0")


def is_production(environment: Mapping[str, str]) -> bool:
    """True if the adapter talks to production."""
    return environment.get(ENVIRONMENT, "").strip().lower() in PRODUCTION


def refusal(profile: Profile, environment: Mapping[str, str]) -> str:
    """Why a profile is not run in an environment; empty where it is."""
    if not is_production(environment) or profile.smoke:
        return ""
    return (
        f"{ENVIRONMENT} is {environment[ENVIRONMENT].strip()}, where the profile {profile.name!r} is not run: use "
        "--corpus-profile=quick, which then only reads, or --corpus-allow-production"
    )
