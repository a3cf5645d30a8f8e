"""The health report of every component."""

REQUIREMENTS = """
COM-HEALTH-1 MUST: `health` answers with an object; if the backend is down, it may answer with an error envelope.
  from SPECIFICATION 4.2.6, SPECIFICATION 7.6, R35
  hint: return an object, for example {"ok": true, "status": "ok"}, not a bare word
COM-HEALTH-2 SHOULD: With its provider up, `health` reports `ok`, `status` (ok, degraded or down), `server` and
    `version`.
  from SPECIFICATION 7.6, R35
  hint: translate the backend's own words into ok, degraded or down, and add `ok`, `server` and `version`
COM-HEALTH-3 SHOULD: A degraded or down report gives a `reason`.
  from SPECIFICATION 7.6, SPECIFICATION 10.3, R35
  hint: add a short `reason` wherever `status` is degraded or down
COM-HEALTH-4 MUST: With its provider down, `health` still answers: with an object or a retryable error.
  from SPECIFICATION 7.6, BEHAVIORAL_CONFORMANCE 5, R35; needs provider
  hint: catch backend failures in `health`, and report down or a retryable class such as UNAVAILABLE
COM-HEALTH-5 SHOULD: With its provider down, `health` does not report that everything is fine.
  from SPECIFICATION 7.6, R35; needs provider
  hint: ask the backend in `health`; if it fails, return `ok` false or a `status` of degraded or down
COM-HEALTH-11 SHOULD: In a health report, `ok` is true if `status` is ok, and false if `status` is down.
  from SPECIFICATION 7.6, R99
  hint: derive `ok` from `status`: false for down, true for ok or degraded
"""
