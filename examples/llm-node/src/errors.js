/** What went wrong, in the words of the protocol (ERRORS 1): your own refusals, and the provider's failures. */

/** The HTTP status that an answer has, by the class of its error (ERRORS 3.1). EDIT: the subtypes that you use. */
export const STATUS_OF = new Map([
  ["BadRequest", 400],
  ["PromptTooLong", 400],
  ["ContentFiltered", 400],
  ["AuthError", 401],
  ["ResourceExhausted", 429],
  ["NotSupported", 501],
  ["ModelNotAvailable", 501],
  ["TransientNetwork", 502],
  ["Unavailable", 503],
  ["ModelOverloaded", 503],
  ["DeadlineExceeded", 504],
]);

/** EDIT: the HTTP statuses (or error codes) of your provider's client, and what each of them means. */
const PROVIDER_STATUSES = new Map([
  [400, "BadRequest"],
  [401, "AuthError"],
  [403, "AuthError"],
  [429, "ResourceExhausted"],
  [502, "TransientNetwork"],
  [503, "Unavailable"],
  [504, "TransientNetwork"],
  [529, "Unavailable"],
]);

/** @type {Record<string, string>} */
const MESSAGES = {
  BadRequest: "The provider refused the request",
  AuthError: "The provider refused the credentials",
  ResourceExhausted: "The provider's rate limit or quota is exceeded",
  TransientNetwork: "The provider could not be reached",
  Unavailable: "The provider is temporarily unavailable",
};
const RETRYABLE = ["ResourceExhausted", "TransientNetwork", "Unavailable"];

/** An error of a class of the protocol, its `name`. Its message names fields and rules, and never quotes a value. */
export class WireError extends Error {
  /**
   * @param {string} name
   * @param {string} message
   * @param {Record<string, unknown>} [details]
   * @param {number | null} [retryAfterMs]
   */
  constructor(name, message, details = {}, retryAfterMs = null) {
    super(message);
    this.name = name;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }

  /** The class name in upper-case words: `PromptTooLong` becomes `PROMPT_TOO_LONG`. */
  get code() {
    return this.name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  }
}

/** What the provider's client throws; EDIT: the members that it has in your client. */
export class ProviderFault extends Error {
  /** @param {{ kind: string, status: number | null, retryAfterMs: number | null, message: string }} facts */
  constructor({ kind, status, retryAfterMs, message }) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * A refusal of one field of the request.
 *
 * @param {string} path
 * @param {string} rule
 * @param {Record<string, unknown>} [details]
 * @param {string} [name]
 */
export function invalid(path, rule, details = {}, name = "BadRequest") {
  return new WireError(name, `${path} ${rule}`, { validation_errors: [{ field: path, code: "INVALID" }], ...details });
}

/**
 * The error for what was thrown; `kinds` has subtypes by the provider's own word for them.
 *
 * What nobody foresaw is `Unavailable`. The fault's own text stays behind: it may hold prompts or credentials.
 *
 * @param {unknown} fault
 * @param {ReadonlyMap<string, string>} kinds
 */
export function asWireError(fault, kinds) {
  if (fault instanceof WireError) return fault;
  const { kind = "", status = null, retryAfterMs = null } = fault instanceof ProviderFault ? fault : {};
  const name = PROVIDER_STATUSES.get(status ?? 0) ?? "Unavailable";
  const retryable = RETRYABLE.includes(name);
  /** @type {Record<string, unknown>} */
  const details = {};
  if (retryable && retryAfterMs === null) details.suggested_backoff_ms = 500;
  if (name === "ResourceExhausted") Object.assign(details, { throttle_scope: "provider", resource_scope: "rate_limit" });
  return new WireError(kinds.get(kind) ?? name, MESSAGES[name], details, retryable ? retryAfterMs : null);
}
