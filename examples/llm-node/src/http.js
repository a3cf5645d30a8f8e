/** HTTP: an envelope is posted; `Accept` asks for JSON, or for a stream as NDJSON or SSE (SPECIFICATION 4.2.4). */

import { once } from "node:events";
import { createServer } from "node:http";

import { STATUS_OF, WireError } from "./errors.js";
import { Call, errorEnvelope } from "./wire.js";

/**
 * @import { IncomingMessage, ServerResponse } from "node:http"
 * @import { Hooks } from "./hooks.js"
 * @import { WireHandler } from "./wire.js"
 */

const JSON_TYPE = "application/json";
const MAX_BODY_BYTES = 16 * 2 ** 20;

/**
 * How a frame is written, by content type. The text of a frame holds no line feed, so one line is enough for it.
 *
 * @type {Record<string, (frame: string) => string>}
 */
const FRAMING = {
  "application/x-ndjson": (frame) => `${frame}\n`,
  "text/event-stream": (frame) => `data: ${frame}\n\n`,
};

/** A request that never becomes a call. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} [name]
   */
  constructor(status, message, name = "BadRequest") {
    super(message);
    this.status = status;
    this.envelope = errorEnvelope(new WireError(name, message), 0);
  }
}

/**
 * A server that is ready to listen; every path is the same.
 *
 * @param {WireHandler} adapter
 * @param {(url: string | undefined) => Hooks} hooksFor
 */
export function httpServer(adapter, hooksFor) {
  const server = createServer(async (request, response) => {
    try {
      await answer(adapter, hooksFor, request, response);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(503, "The request failed", "Unavailable");
      if (refusal !== error && request.complete) console.error(error); // otherwise the client is gone
      if (response.headersSent) response.destroy();
      else sendJson(response, refusal.status, refusal.envelope);
    }
  });
  server.keepAliveTimeout = 65_000; // longer than clients and load balancers keep an idle connection
  return server;
}

/**
 * @param {WireHandler} adapter
 * @param {(url: string | undefined) => Hooks} hooksFor
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function answer(adapter, hooksFor, request, response) {
  const type = acceptedType(request);
  const envelope = await readEnvelope(request);
  const call = new Call(hooksFor(request.headers["x-corpus-hooks"]?.toString()));
  response.on("close", () => response.writableFinished || call.cancel());
  if (type === JSON_TYPE) sendEnvelope(response, await adapter.handle(call, envelope));
  else await sendStream(response, type, adapter.handleStream(call, envelope));
}

/**
 * What the answer is to be; every other request is refused.
 *
 * @param {IncomingMessage} request
 */
function acceptedType({ method, headers }) {
  if (method !== "POST") throw new Refusal(405, "Send the envelope with POST");
  if (mediaType(headers["content-type"] ?? JSON_TYPE) !== JSON_TYPE) {
    throw new Refusal(415, `The content type must be ${JSON_TYPE}`);
  }
  const accepted = (headers.accept ?? "*/*").split(",").map(mediaType);
  const stream = accepted.find((type) => Object.hasOwn(FRAMING, type));
  if (stream) return stream;
  if (accepted.some((type) => [JSON_TYPE, "application/*", "*/*"].includes(type))) return JSON_TYPE;
  throw new Refusal(406, `Accept ${[JSON_TYPE, ...Object.keys(FRAMING)].join(", ")}`, "NotSupported");
}

/** @param {string} header */
function mediaType(header) {
  return header.split(";")[0].trim().toLowerCase();
}

/**
 * @param {IncomingMessage} request
 * @returns {Promise<unknown>}
 */
async function readEnvelope(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= MAX_BODY_BYTES) parts.push(part); // the rest is read all the same: who still writes hears no answer
  }
  if (size > MAX_BODY_BYTES) throw new Refusal(413, "The request is too large");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts)));
  } catch {
    throw new Refusal(400, "The request is not JSON");
  }
}

/**
 * @param {ServerResponse} response
 * @param {{ ok: boolean, error?: string }} envelope
 */
function sendEnvelope(response, envelope) {
  sendJson(response, envelope.ok ? 200 : (STATUS_OF.get(envelope.error ?? "") ?? 500), envelope);
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {object} value
 */
function sendJson(response, status, value) {
  const body = Buffer.from(JSON.stringify(value));
  if (status === 405) response.setHeader("Allow", "POST");
  response.writeHead(status, { "Content-Type": JSON_TYPE, "Content-Length": body.length }).end(body);
}

/**
 * Frame by frame, as fast as the client reads; a request that is refused at once gets a plain answer with its status.
 *
 * @param {ServerResponse} response
 * @param {string} type
 * @param {AsyncIterable<{ ok: boolean }>} frames
 */
async function sendStream(response, type, frames) {
  const closed = new Promise((resolve) => response.once("close", resolve));
  for await (const frame of frames) {
    if (response.destroyed) return;
    if (!response.headersSent) {
      if (!frame.ok) return sendEnvelope(response, frame);
      response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" });
    }
    if (!response.write(FRAMING[type](JSON.stringify(frame)))) {
      await Promise.race([once(response, "drain"), closed]);
    }
  }
  response.end();
}
