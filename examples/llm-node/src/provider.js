/**
 * The provider: here you call your library. What stands here now is a stand-in that makes up its answers.
 *
 * Keep the line `await call.reached(...)` before each call of the library. In production it does nothing; in a
 * conformance run it is where the suite lets the provider fail, hang or be slow. Give `call.signal` to the library: it
 * is aborted at the deadline, and when the caller is gone. Hand on what is in `call.along`: the trace and the deadline.
 */

/** @import { Call } from "./wire.js" */

/**
 * A request that was read and checked; in `sampling` null stands for the provider's own default.
 *
 * @typedef {object} Prompt
 * @property {string} model
 * @property {{ role: string, content: string }[]} messages
 * @property {number | null} maxTokens
 * @property {string[]} stopSequences
 * @property {Record<string, number | null>} sampling
 */

/**
 * @typedef {object} Reply
 * @property {string} text
 * @property {"stop" | "length" | "content_filter"} finishReason
 */

/** EDIT: the models, and how each of the methods below gets its answer from your library. */
export class Provider {
  models = ["stand-in-large", "stand-in-small"];
  contextLength = 2048;

  /**
   * @param {Prompt} prompt
   * @param {Call} call
   * @returns {Promise<Reply>}
   */
  async complete(prompt, call) {
    await call.reached("llm.complete");
    // EDIT: here call your library, for example
    //     const { signal } = call;
    //     await client.chat.completions.create({ model: prompt.model, messages: prompt.messages, ... }, { signal });
    return this.madeUp(prompt);
  }

  /**
   * The text in pieces; the suite is told once more before each of them.
   *
   * @param {Prompt} prompt
   * @param {Call} call
   * @returns {AsyncGenerator<string, void>}
   */
  async *stream(prompt, call) {
    await call.reached("llm.stream");
    // EDIT: here call your library with stream: true
    for (const [number, piece] of tokens(this.madeUp(prompt).text).entries()) {
      await call.reached("llm.stream", { chunk: number });
      yield piece;
    }
  }

  /**
   * EDIT: the tokenizer of your model.
   *
   * @param {string} text
   */
  countTokens(text) {
    return tokens(text).length;
  }

  /**
   * Whether the provider answers.
   *
   * @param {Call} call
   */
  async isUp(call) {
    try {
      await call.reached("llm.health");
      // EDIT: a cheap call of your library
      return true;
    } catch {
      return false;
    }
  }

  // The stand-in: delete it when nothing calls it any more.

  /**
   * @param {Prompt} prompt
   * @returns {Reply}
   */
  madeUp({ model, messages, maxTokens, stopSequences }) {
    let text = `You said ${messages.length} things to ${model}, and this is what I answer.`;
    for (const stop of stopSequences) if (stop !== "") [text] = text.split(stop);
    const all = tokens(text);
    const room = maxTokens ?? this.contextLength;
    return { text: all.slice(0, room).join(""), finishReason: all.length <= room ? "stop" : "length" };
  }
}

/**
 * @param {string} text
 * @returns {string[]}
 */
function tokens(text) {
  return text.match(/ ?\S{1,8}|\s/gu) ?? [];
}
