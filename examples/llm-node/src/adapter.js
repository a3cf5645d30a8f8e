/** The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, `provider.js` does the work. */

import { WireError } from "./errors.js";
import { WireHandler } from "./wire.js";

/**
 * @import { Arguments } from "./arguments.js"
 * @import { Prompt, Provider } from "./provider.js"
 * @import { Call } from "./wire.js"
 */

const ROLES = ["system", "user", "assistant", "tool"];

/** A wire handler: `handle` and `handleStream` are inherited, each operation is a method. */
export class Adapter extends WireHandler {
  component = "llm";
  unary = {
    capabilities: () => this.capabilities(),
    complete: (/** @type {Call} */ call) => this.complete(call),
    count_tokens: (/** @type {Call} */ call) => this.countTokens(call),
    health: (/** @type {Call} */ call) => this.health(call),
  };
  streams = { stream: (/** @type {Call} */ call) => this.stream(call) };
  kinds = new Map([
    ["content_filter", "ContentFiltered"],
    ["server_is_overloaded", "ModelOverloaded"],
  ]);

  /** @param {Provider} provider */
  constructor(provider) {
    super();
    this.provider = provider;
  }

  /** EDIT: what you offer. What is claimed is tested, and what is denied is not applicable. */
  async capabilities() {
    return {
      server: "llm-adapter-node",
      version: "0.1.0",
      protocol: "llm/v1.0",
      supported_models: this.provider.models,
      max_context_length: this.provider.contextLength,
      supports_streaming: true,
      supports_roles: true,
      supports_system_message: true,
      supports_count_tokens: true,
      concurrency: 64, // EDIT: how many calls your provider takes at once, and in a second
      rate_limit_qps: 100,
      supports_deadline: true,
      supports_json_output: false,
      supports_tools: false,
      supports_parallel_tool_calls: false,
      supports_tool_choice: false,
      supports_multi_tenant: false,
      supports_caching: false,
      idempotent_writes: false,
      extensions: { streaming_transports: ["ndjson", "sse", "stdio"] },
    };
  }

  /**
   * A provider that is down is a report, not an error.
   *
   * @param {Call} call
   */
  async health(call) {
    const report = { server: "llm-adapter-node", version: "0.1.0" };
    if (await this.provider.isUp(call)) return { ok: true, status: "ok", ...report };
    return { ok: false, status: "down", reason: "the provider does not answer", ...report };
  }

  /** @param {Call} call */
  async complete(call) {
    const prompt = this.prompt(call.args);
    const { text, finishReason } = await this.provider.complete(prompt, call);
    return { text, model: prompt.model, usage: this.usage(prompt, text), finish_reason: finishReason };
  }

  /** @param {Call} call */
  async *stream(call) {
    const prompt = this.prompt(call.args);
    const { model } = prompt;
    let text = "";
    for await (const piece of this.provider.stream(prompt, call)) {
      text += piece;
      yield { text: piece, is_final: false, model };
    }
    yield { text: "", is_final: true, model, usage_so_far: this.usage(prompt, text) };
  }

  /** @param {Call} call */
  async countTokens(call) {
    this.model(call.args);
    return { tokens: this.provider.countTokens(call.args.text("text")) };
  }

  /**
   * The arguments of `complete` and `stream`.
   *
   * @param {Arguments} args
   * @returns {Prompt}
   */
  prompt(args) {
    this.refuseTools(args);
    const system = args.optionalText("system_message");
    const messages = system === null ? [] : [{ role: "system", content: system }];
    for (const message of args.objects("messages", true)) messages.push(this.message(message));
    const prompt = {
      model: this.model(args),
      messages,
      maxTokens: args.integer("max_tokens", this.provider.leastTokens),
      stopSequences: args.listOf("a string", "stop_sequences").filter((stop) => stop !== ""),
      sampling: {
        temperature: args.number("temperature", 0, 2),
        top_p: args.number("top_p", 0, 1),
        frequency_penalty: args.number("frequency_penalty", -2, 2),
        presence_penalty: args.number("presence_penalty", -2, 2),
      },
    };
    if (prompt.stopSequences.length > this.provider.mostStops) {
      throw args.invalid("stop_sequences", `must be at most ${this.provider.mostStops}`);
    }
    if (prompt.sampling.top_p === 0) throw args.invalid("top_p", "must be above 0");
    const [most, provided] = [this.provider.contextLength, this.promptTokens(prompt)];
    if (provided > most) {
      const details = { max_context_length: most, provided_tokens: provided, model: prompt.model };
      throw args.invalid("messages", "exceed the context length", details, "PromptTooLong");
    }
    return prompt;
  }

  /** @param {Arguments} args */
  refuseTools(args) {
    const { tools = null, tool_choice: choice = null } = args.values;
    if (tools !== null && !(Array.isArray(tools) && tools.length === 0)) {
      throw new WireError("NotSupported", "args.tools is not supported");
    }
    if (choice !== null && choice !== "auto" && choice !== "none") {
      throw new WireError("NotSupported", "args.tool_choice is not supported");
    }
  }

  /** @param {Arguments} message */
  message(message) {
    const role = message.text("role");
    if (!ROLES.includes(role)) throw message.invalid("role", `must be one of ${ROLES.join(", ")}`);
    message.optionalText("name");
    const id = message.optionalText("tool_call_id");
    message.listOf("an object", "tool_calls");
    return { role, content: message.text("content"), ...(id !== null && { tool_call_id: id }) };
  }

  /**
   * The model that was asked for, or the first one.
   *
   * @param {Arguments} args
   */
  model(args) {
    const model = args.optionalText("model") || this.provider.models[0];
    if (!this.provider.models.includes(model)) {
      throw args.invalid("model", "is not available", { model }, "ModelNotAvailable");
    }
    return model;
  }

  /** @param {Prompt} prompt */
  promptTokens({ messages }) {
    return messages.reduce((sum, { content }) => sum + this.provider.countTokens(content), 0);
  }

  /**
   * EDIT: what your provider says it used, if it says so.
   *
   * @param {Prompt} prompt
   * @param {string} text
   */
  usage(prompt, text) {
    const [used, made] = [this.promptTokens(prompt), this.provider.countTokens(text)];
    return { prompt_tokens: used, completion_tokens: made, total_tokens: used + made };
  }
}
