/** Serves the adapter: over HTTP, or over standard input and output with --stdio. */

import { parseArgs } from "node:util";

import { Adapter } from "./src/adapter.js";
import { PRODUCTION, hooksAt } from "./src/hooks.js";
import { httpServer } from "./src/http.js";
import { Provider } from "./src/provider.js";
import { serveStdio } from "./src/stdio.js";

const { values: options } = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8181" },
    stdio: { type: "boolean", default: false },
    // For conformance runs alone: it posts to whatever address a request names.
    hooks: { type: "boolean", default: false },
  },
});

/** @param {string | undefined} url */
const hooksFor = (url) => (options.hooks && url ? hooksAt(url) : PRODUCTION);
const adapter = new Adapter(new Provider());

if (options.stdio) {
  await serveStdio(adapter, hooksFor);
} else {
  const server = httpServer(adapter, hooksFor);
  server.listen(Number(options.port), options.host, () => {
    const address = server.address();
    if (typeof address === "object") console.log(`listening on http://${options.host}:${address?.port}`);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
}
