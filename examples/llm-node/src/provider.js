/**
 * The provider: here you call your library. What stands here now asks a server that speaks the API of OpenAI, as many do.
 *
 * Give `call.signal` to the library: it is aborted at the deadline, and when the caller is gone. Hand on what is in
 * `call.along`: the trace and the deadline. Ask `call.providerUrl` for the address: in a conformance run the suite stands
 * there, in the place of the provider or before it, and lets it fail, hang or be slow.
 */

/** @import { Call } from "./wire.js" */

import { ProviderFault, WireError } from "./errors.js";

// EDIT: the address of your provider, and its key.
const BASE = process.env.OPENAI_BASE_URL ?? "https://api.openai.com";
const KEY = process.env.OPENAI_API_KEY ?? "unused";

/**
 * A request that was read and checked; in `sampling` null stands for the provider's own default.
 *
 * @typedef {object} Prompt
 * @property {string} model
 * @property {{ role: string, content: string, tool_call_id?: string }[]} messages
 * @property {number | null} maxTokens
 * @property {string[]} stopSequences
 * @property {Record<string, number | null>} sampling
 */

/**
 * @typedef {object} Reply
 * @property {string} text
 * @property {"stop" | "length" | "content_filter"} finishReason
 */

/** EDIT: the statuses of the codes or types of errors in mid-stream, which have none. */
const STATUS_OF_CODE = new Map([
  ["rate_limit_exceeded", 429],
  ["insufficient_quota", 429],
  ["invalid_api_key", 401],
  ["unsupported_country_region_territory", 403],
  ["content_filter", 400],
  ["server_is_overloaded", 529],
  ["invalid_request_error", 400],
]);

/** EDIT: the models, and how each of the methods below gets its answer from your library. */
export class Provider {
  models = ["gpt-4o-mini", "gpt-4o"];
  contextLength = 8192;
  leastTokens = 1;
  mostStops = 4;

  /**
   * @param {Prompt} prompt
   * @param {Call} call
   * @returns {Promise<Reply>}
   */
  async complete(prompt, call) {
    const answer = await this.ask("v1/chat/completions", call, body(prompt));
    const [choice] = (await whole(answer)).choices;
    return { text: choice.message.content ?? "", finishReason: choice.finish_reason };
  }

  /**
   * The text in pieces.
   *
   * @param {Prompt} prompt
   * @param {Call} call
   * @returns {AsyncGenerator<string, void>}
   */
  async *stream(prompt, call) {
    const answer = await this.ask("v1/chat/completions", call, { ...body(prompt), stream: true });
    let finished = false;
    for await (const { choices = [] } of events(answer)) {
      for (const { delta, finish_reason: reason } of choices) {
        if (delta?.content) yield delta.content;
        finished ||= Boolean(reason);
      }
    }
    if (!finished) throw brokenOff();
  }

  /**
   * EDIT: the tokenizer of your model.
   *
   * @param {string} text
   */
  countTokens(text) {
    return (text.match(/ ?\S{1,8}|\s/gu) ?? []).length;
  }

  /**
   * Whether the provider answers.
   *
   * @param {Call} call
   */
  async isUp(call) {
    try {
      await whole(await this.ask("v1/models", call));
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Send a request; only an answer with the status 200 is returned.
   *
   * @param {string} path
   * @param {Call} call
   * @param {object} [given]
   */
  async ask(path, call, given) {
    const { traceparent, deadline_ms: deadline } = call.along;
    /** @type {Record<string, string>} */
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${KEY}` };
    if (traceparent !== undefined) headers.traceparent = traceparent;
    if (deadline !== undefined) headers["X-Deadline-Ms"] = String(deadline);
    const sent = given === undefined ? {} : { method: "POST", body: JSON.stringify(given) };
    const url = `${call.providerUrl ?? BASE}/${path}`;
    const answer = await received(() => fetch(url, { headers, signal: call.signal, ...sent }));
    if (answer.ok) return answer;
    const text = await received(() => answer.text());
    throw new ProviderFault({ ...wordsOf(text), status: answer.status, retryAfterMs: retryAfterMs(answer.headers) });
  }
}

/**
 * A prompt as the API takes it.
 *
 * @param {Prompt} prompt
 */
function body({ model, messages, maxTokens, stopSequences, sampling }) {
  const given = Object.entries(sampling).filter(([, value]) => value !== null);
  return {
    model,
    messages,
    ...Object.fromEntries(given),
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    ...(stopSequences.length > 0 && { stop: stopSequences }),
  };
}

/**
 * What comes over the network. `fetch` throws a TypeError for whatever breaks, and the reason of the signal if it is
 * aborted.
 *
 * @template T
 * @param {() => Promise<T>} work
 */
async function received(work) {
  try {
    return await work();
  } catch (error) {
    throw error instanceof WireError ? error : brokenOff();
  }
}

/** @param {Response} answer */
async function whole(answer) {
  return parsed(await received(() => answer.text()));
}

/**
 * The data of the events of a stream.
 *
 * @param {Response} answer
 */
async function* events(answer) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await received(() => reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const data = line.startsWith("data:") ? line.slice(5).trim() : "";
        if (data === "[DONE]") return;
        if (data !== "") yield parsed(data);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * An answer, or an event of one; a failure in mid-stream is one of them.
 *
 * @param {string} text
 */
function parsed(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProviderFault({ kind: "garbage", status: null, retryAfterMs: null, message: "not JSON" });
  }
  if (!value?.error) return value;
  const { code, type } = value.error;
  const status = STATUS_OF_CODE.get(code) ?? STATUS_OF_CODE.get(type) ?? null;
  throw new ProviderFault({ ...wordsOf(text), status, retryAfterMs: null });
}

/**
 * The provider's own word for an error; its message stays here.
 *
 * @param {string} text
 */
function wordsOf(text) {
  try {
    return { kind: String(JSON.parse(text).error.code), message: "refused" };
  } catch {
    return { kind: "", message: "refused" };
  }
}

function brokenOff() {
  return new ProviderFault({ kind: "network", status: 502, retryAfterMs: null, message: "broken off" });
}

/**
 * When to come again: milliseconds, seconds, or a date.
 *
 * @param {Headers} headers
 */
function retryAfterMs(headers) {
  const [ms, seconds] = [headers.get("retry-after-ms"), headers.get("retry-after")];
  if (ms !== null && Number.isFinite(Number(ms))) return Number(ms);
  if (seconds === null) return null;
  if (Number.isFinite(Number(seconds))) return Number(seconds) * 1000;
  const date = Date.parse(seconds);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
