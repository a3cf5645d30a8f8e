/** Reading the members of a request: what is missing, or of the wrong type or range, is refused with BAD_REQUEST. */

import { invalid } from "./errors.js";

/** @type {Record<string, (value: unknown) => boolean>} */
const TYPES = {
  "a string": (value) => typeof value === "string",
  "a number": (value) => typeof value === "number",
  "an object": isObject,
  "a list": Array.isArray,
};

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of one object of the request, by name; null counts as absent. */
export class Arguments {
  /**
   * @param {Record<string, unknown>} values
   * @param {string} [path]
   */
  constructor(values, path = "args") {
    this.values = values;
    this.path = path;
  }

  /**
   * A member of one of `TYPES`; null where it is absent.
   *
   * @param {string} name
   * @param {string} kind
   * @returns {any}
   */
  read(name, kind, required = false) {
    const value = Object.hasOwn(this.values, name) ? this.values[name] : null;
    if (value === null) {
      if (required) throw this.invalid(name, `is required and must be ${kind}`);
    } else if (!TYPES[kind](value)) {
      throw this.invalid(name, `must be ${kind}`);
    }
    return value;
  }

  /**
   * A refusal that names the member.
   *
   * @param {string} name
   * @param {string} rule
   * @param {Record<string, unknown>} [details]
   * @param {string} [error]
   */
  invalid(name, rule, details, error) {
    return invalid(`${this.path}.${name}`, rule, details, error);
  }

  /**
   * A required string.
   *
   * @param {string} name
   * @returns {string}
   */
  text(name) {
    return this.read(name, "a string", true);
  }

  /**
   * A string, or null.
   *
   * @param {string} name
   * @returns {string | null}
   */
  optionalText(name) {
    return this.read(name, "a string");
  }

  /**
   * A number from `low` to `high`, or null.
   *
   * @param {string} name
   * @returns {number | null}
   */
  number(name, low = -Infinity, high = Infinity) {
    const value = this.read(name, "a number");
    if (value !== null && !(low <= value && value <= high)) {
      throw this.invalid(name, `must lie between ${low} and ${high}`);
    }
    return value;
  }

  /**
   * An integer of at least `low`, or null.
   *
   * @param {string} name
   * @param {number} low
   * @returns {number | null}
   */
  integer(name, low) {
    const value = this.read(name, "a number");
    if (value !== null && !(Number.isInteger(value) && value >= low)) {
      throw this.invalid(name, `must be an integer of at least ${low}`);
    }
    return value;
  }

  /**
   * An object; an empty one where it is absent.
   *
   * @param {string} name
   * @returns {Record<string, unknown>}
   */
  object(name, required = false) {
    return this.read(name, "an object", required) ?? {};
  }

  /**
   * A list whose elements all are `kind`; an empty one where it is absent.
   *
   * @param {string} kind
   * @param {string} name
   * @returns {any[]}
   */
  listOf(kind, name, required = false) {
    /** @type {unknown[]} */
    const values = this.read(name, "a list", required) ?? [];
    return values.map((value, index) => {
      const element = `${name}[${index}]`;
      return new Arguments({ [element]: value }, this.path).read(element, kind, true);
    });
  }

  /**
   * The objects of a list, each to be read in its turn.
   *
   * @param {string} name
   */
  objects(name, required = false) {
    const values = this.listOf("an object", name, required);
    return values.map((value, index) => new Arguments(value, `${this.path}.${name}[${index}]`));
  }
}

/**
 * Refuse numbers that are not finite, and integers beyond 64 bits, at any depth (SPECIFICATION 4.1). JavaScript cannot
 * tell the latter from other large numbers, so these are refused too.
 *
 * @param {unknown} value
 * @param {string} path
 */
export function checkNumbers(value, path) {
  const waiting = [value];
  while (waiting.length > 0) {
    const item = waiting.pop();
    if (typeof item === "object" && item !== null) {
      for (const member of Object.values(item)) waiting.push(member);
    } else if (typeof item === "number" && !(Math.abs(item) < 2 ** 63)) {
      throw invalid(path, "must hold finite numbers, and integers of 64 bits");
    }
  }
}
