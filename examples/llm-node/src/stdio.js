/**
 * stdio: a line of JSON each way. A request is `{"id": n, "envelope": {...}}`, each answer `{"id": n, "frame": {...}}`,
 * and `{"cancel": n}` ends a call. Calls run side by side.
 */

import { isObject } from "./arguments.js";
import { WireError } from "./errors.js";
import { Call, errorEnvelope } from "./wire.js";

/**
 * @import { Hooks } from "./hooks.js"
 * @import { WireHandler } from "./wire.js"
 */

const LINE_FEED = 10;

/**
 * Serve until standard input ends.
 *
 * @param {WireHandler} adapter
 * @param {(url: string | undefined) => Hooks} hooksFor
 */
export async function serveStdio(adapter, hooksFor) {
  console.log = console.error; // nothing but answers may stand on standard output
  /** @type {Map<unknown, Call>} */
  const calls = new Map();
  for await (const line of lines(process.stdin)) {
    const message = parsed(line);
    if (!isObject(message)) {
      write(null, errorEnvelope(new WireError("BadRequest", "The line is not a JSON object"), 0));
    } else if ("cancel" in message) {
      calls.get(message.cancel)?.cancel();
    } else {
      const { id = null, envelope, stream, hooks } = message;
      const call = new Call(hooksFor(typeof hooks === "string" ? hooks : process.env.CORPUS_HOOKS_URL));
      calls.set(id, call);
      const streaming = typeof stream === "boolean" ? stream : isStream(adapter, envelope);
      carryOut(adapter, call, id, envelope, streaming).finally(() => calls.delete(id));
    }
  }
  for (const call of calls.values()) call.cancel();
}

/**
 * @param {WireHandler} adapter
 * @param {Call} call
 * @param {unknown} id
 * @param {unknown} envelope
 * @param {boolean} streaming
 */
async function carryOut(adapter, call, id, envelope, streaming) {
  if (streaming) for await (const frame of adapter.handleStream(call, envelope)) write(id, frame);
  else write(id, await adapter.handle(call, envelope));
}

/**
 * Whether the operation is a stream, which decides where the message does not.
 *
 * @param {WireHandler} adapter
 * @param {unknown} envelope
 */
function isStream(adapter, envelope) {
  const names = Object.keys(adapter.streams).map((name) => `${adapter.component}.${name}`);
  return isObject(envelope) && typeof envelope.op === "string" && names.includes(envelope.op);
}

/**
 * @param {unknown} id
 * @param {object} frame
 */
function write(id, frame) {
  process.stdout.write(`${JSON.stringify({ id, frame })}\n`);
}

/** @param {Buffer} line */
function parsed(line) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line));
  } catch {
    return undefined;
  }
}

/**
 * Split at line feeds alone: node:readline also splits at U+2028, which may stand in a JSON string.
 *
 * @param {AsyncIterable<Buffer>} input
 */
async function* lines(input) {
  /** @type {Buffer[]} */
  let begun = [];
  for await (let part of input) {
    for (let end; (end = part.indexOf(LINE_FEED)) !== -1; part = part.subarray(end + 1)) {
      yield Buffer.concat([...begun, part.subarray(0, end)]);
      begun = [];
    }
    begun.push(part);
  }
}
