/**
 * Where observations go, and where a conformance run lets the provider fail.
 *
 * The suite names the address of its hooks with each request; what is posted has the names of SPECIFICATION 6.4.
 */

/**
 * @typedef {object} Hooks
 * @property {(report: object) => Promise<void>} observe how an operation ended
 * @property {(report: object) => Promise<void>} counter a count
 * @property {string} [providerUrl] a stand-in for the provider, which fails as the suite plans
 */

/**
 * EDIT: what production does with observations.
 *
 * @type {Hooks}
 */
export const PRODUCTION = {
  async observe() {},
  async counter() {},
};

/**
 * The hooks of a conformance run.
 *
 * @param {string} url
 * @returns {Hooks}
 */
export function hooksAt(url) {
  return {
    observe: (report) => tell(url, "metrics/observe", report),
    counter: (report) => tell(url, "metrics/counter", report),
    providerUrl: `${url}/provider`,
  };
}

/**
 * An observation that gets lost changes no answer.
 *
 * @param {string} url
 * @param {string} path
 * @param {object} report
 */
async function tell(url, path, report) {
  try {
    await post(url, path, report, AbortSignal.timeout(5000));
  } catch (error) {
    console.error(`${path}: ${error}`);
  }
}

/**
 * @param {string} url
 * @param {string} path
 * @param {object} report
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
async function post(url, path, report, signal) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(report);
  const answer = await fetch(`${url}/${path}`, { method: "POST", headers, body, signal });
  return await answer.json();
}
