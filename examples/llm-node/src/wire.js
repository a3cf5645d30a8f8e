/** What all operations share: envelopes, deadlines, observations (SPECIFICATION 4 and 6). You hardly ever edit it. */

import { createHmac } from "node:crypto";

import { Arguments, checkNumbers, isObject } from "./arguments.js";
import { WireError, asWireError, invalid } from "./errors.js";

// EDIT: one secret for each deployment, so that nobody else can compute the hash of a tenant.
const TENANT_SALT = process.env.TENANT_SALT ?? "change me";
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One call: filled in while its request is read, observed once when it ends. */
export class Call {
  /** @param {import("./hooks.js").Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.op = "unknown";
    this.args = new Arguments({});
    /** @type {string | null} */
    this.tenantHash = null;
    /** @type {number | null} */
    this.deadlineMs = null;
    /** @type {string | null} */
    this.traceparent = null;
    this.started = performance.now();
    this.observed = false;
    this.aborting = new AbortController();
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    /** @type {Promise<never>} */
    this.aborted = new Promise((_, reject) => {
      this.signal.addEventListener("abort", () => reject(this.signal.reason));
    });
    this.aborted.catch(() => {});
  }

  /** Give this to your library: it ends what nobody waits for any more. */
  get signal() {
    return this.aborting.signal;
  }

  /** How long the call has taken. */
  get ms() {
    return performance.now() - this.started;
  }

  /** What goes along to the provider as it came: the trace and the deadline (SPECIFICATION 6.1, 11.3). */
  get along() {
    return {
      ...(this.traceparent !== null && { traceparent: this.traceparent }),
      ...(this.deadlineMs !== null && { deadline_ms: this.deadlineMs }),
    };
  }

  /** The caller is gone. */
  cancel() {
    this.aborting.abort(new WireError("Unavailable", "The call was cancelled"));
  }

  /** Where the provider is in a conformance run; undefined in production. */
  get providerUrl() {
    return process.env.CORPUS_PROVIDER_PROXY ?? this.hooks.providerUrl;
  }

  /**
   * End the call at the deadline.
   *
   * @param {number} deadlineMs
   */
  setDeadline(deadlineMs) {
    this.deadlineMs = deadlineMs;
    const left = deadlineMs - Date.now();
    const end = () => this.aborting.abort(new WireError("DeadlineExceeded", "The time budget of the call is spent"));
    if (left <= 0) end();
    else this.timer = setTimeout(end, Math.min(left, LONGEST_TIMER_MS));
  }

  /**
   * What `work` comes to, unless the call is aborted before. Then `work` does not even begin, or is not waited for.
   *
   * @template T
   * @param {() => Promise<T>} work
   */
  async inTime(work) {
    this.signal.throwIfAborted();
    return await Promise.race([work(), this.aborted]);
  }

  /**
   * Tell how a call ended, once; the labels hold no content, and of the tenant the hash alone.
   *
   * @param {string} component
   * @param {string} code
   */
  async observe(component, code, stream = false) {
    if (this.observed) return;
    this.observed = true;
    clearTimeout(this.timer);
    /** @type {Record<string, string>} */
    const extra = {};
    if (this.tenantHash !== null) extra.tenant_hash = this.tenantHash;
    if (this.deadlineMs !== null) {
      const left = (this.deadlineMs - Date.now()) / 1000;
      const limit = [1, 10, 60].find((limit) => left < limit);
      extra.deadline_bucket = limit === undefined ? "ge_60s" : `lt_${limit}s`;
    }
    const { op, ms } = this;
    await this.hooks.observe({ component, op, ms, ok: code === "OK", code, extra });
    if (stream) {
      const name = "count_stream_final_outcome";
      await this.hooks.counter({ component, name, value: 1, extra: { op, code, ...extra } });
    }
  }
}

/**
 * The way in and out, for every transport. A subclass names its operations: one of `unary` returns the `result`, one of
 * `streams` is an async generator of `chunk` objects. `kinds` has subtypes of errors by the provider's word for them.
 */
export class WireHandler {
  component = "";
  /** @type {Record<string, (call: Call) => Promise<unknown>>} */
  unary = {};
  /** @type {Record<string, (call: Call) => AsyncGenerator<{ is_final: boolean }, void>>} */
  streams = {};
  /** @type {ReadonlyMap<string, string>} */
  kinds = new Map();

  /**
   * Answer a unary request with one envelope.
   *
   * @param {Call} call
   * @param {unknown} envelope
   */
  async handle(call, envelope) {
    try {
      this.read(call, envelope, this.unary);
      const result = await call.inTime(() => this.unary[call.op](call));
      await call.observe(this.component, "OK");
      return { ok: true, code: "OK", ms: call.ms, result };
    } catch (error) {
      return await this.failed(call, error);
    }
  }

  /**
   * Answer a streaming request with frames; the last one is a final chunk or an error.
   *
   * @param {Call} call
   * @param {unknown} envelope
   */
  async *handleStream(call, envelope) {
    try {
      this.read(call, envelope, this.streams);
      yield* this.frames(call, this.streams[call.op](call));
    } catch (error) {
      yield await this.failed(call, error, true);
    } finally {
      await call.observe(this.component, "UNAVAILABLE", true); // of a stream that nobody read to its end
    }
  }

  /**
   * @param {Call} call
   * @param {AsyncGenerator<{ is_final: boolean }, void>} chunks
   */
  async *frames(call, chunks) {
    try {
      while (true) {
        const { value: chunk } = await call.inTime(() => chunks.next());
        if (!chunk) throw new Error("a stream ends with a final chunk");
        if (chunk.is_final) await call.observe(this.component, "OK", true);
        yield { ok: true, code: "STREAMING", ms: call.ms, chunk };
        if (chunk.is_final) return;
      }
    } finally {
      chunks.return().catch(() => {}); // not awaited: it may hang where the library ignores the signal
    }
  }

  /**
   * Read what all requests have: `op`, `ctx`, `args`.
   *
   * @param {Call} call
   * @param {unknown} envelope
   * @param {object} offered
   */
  read(call, envelope, offered) {
    if (!isObject(envelope)) throw new WireError("BadRequest", "The request must be an object");
    const request = new Arguments(envelope, "request");
    const [component, bare] = request.text("op").split(/\.(.*)/s);
    if (component === this.component && (Object.hasOwn(this.unary, bare) || Object.hasOwn(this.streams, bare))) {
      call.op = bare;
    }
    this.readContext(call, new Arguments(request.object("ctx", true), "ctx"));
    call.args = new Arguments(request.object("args", true));
    checkNumbers(call.args.values, "args");
    if (!Object.hasOwn(offered, call.op)) throw new WireError("NotSupported", "The operation is not known here");
  }

  /**
   * Read the documented members of `ctx`; any others are ignored.
   *
   * @param {Call} call
   * @param {Arguments} ctx
   */
  readContext(call, ctx) {
    for (const name of ["request_id", "idempotency_key"]) ctx.optionalText(name);
    call.traceparent = ctx.optionalText("traceparent");
    ctx.object("attrs");
    const tenant = ctx.optionalText("tenant");
    if (tenant !== null) {
      call.tenantHash = createHmac("sha256", TENANT_SALT).update(tenant).digest("hex").slice(0, 32);
    }
    checkNumbers(ctx.values, "ctx");
    const deadlineMs = ctx.number("deadline_ms");
    if (deadlineMs === null) return;
    if (deadlineMs <= 0) throw invalid("ctx.deadline_ms", "must be positive epoch milliseconds");
    call.setDeadline(deadlineMs);
  }

  /**
   * The envelope of an error.
   *
   * @param {Call} call
   * @param {unknown} fault
   */
  async failed(call, fault, stream = false) {
    const error = asWireError(fault, this.kinds);
    await call.observe(this.component, error.code, stream);
    return errorEnvelope(error, call.ms);
  }
}

/**
 * @param {WireError} error
 * @param {number} ms
 */
export function errorEnvelope(error, ms) {
  return {
    ok: false,
    code: error.code,
    error: error.name,
    message: error.message,
    retry_after_ms: error.retryAfterMs,
    details: error.details,
    ms,
  };
}
