// Opens one page in Chromium as a reader does and writes what it saw as JSON on stdout:
//   node look.mjs CHROMIUM PAGE.html FOLDER-FOR-SCREENSHOTS
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, path, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const seen = { console: [], requests: [], widths: {}, violations: {}, filtered: {}, themes: [] };

const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const context = await browser.newContext({ colorScheme: "light" });
const page = await context.newPage();
page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => seen.console.push(`error: ${error.message}`));
page.on("request", (request) => {
  if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) seen.requests.push(request.url());
});
await page.goto(pathToFileURL(path).href);

// Rows that are made of the same elements look the same: two of each will do.
const others = `(() => {
  const seen = {};
  return [...document.querySelectorAll(".row")].filter((row) => {
    const parts = [row, ...row.querySelectorAll("*")].map((each) => [each.tagName, each.className, each.open]);
    return (seen[parts] = (seen[parts] ?? 0) + 1) > 2;
  });
})()`;
// Evaluated over the debugger, which no content policy of the page forbids.
const check = async (name) => {
  await page.evaluate(`globalThis.left = ${others}.map((row) => [row, document.createComment("")])`);
  await page.evaluate("left.forEach(([row, place]) => row.replaceWith(place))");
  const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
  await page.evaluate("left.forEach(([row, place]) => place.replaceWith(row))");
  seen.violations[name] = found.violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(" ; ")}`);
};
const shown = () => page.evaluate(() => [...document.querySelectorAll(".row")].filter((row) => row.checkVisibility()).length);
const shoot = (name, fullPage = false) => page.screenshot({ path: join(folder, `${name}.png`), fullPage });
const theme = async () => ({
  name: await page.evaluate(() => document.documentElement.dataset.theme ?? ""),
  ground: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
});

for (const width of [1280, 390]) {
  await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
  seen.widths[width] = await page.evaluate(() => document.documentElement.scrollWidth);
  await shoot(`${width}-light`);
  await page.locator("#filters").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.getElementById("requirements").scrollIntoView({ behavior: "instant" }));
  await shoot(`${width}-light-requirements`);
  await check(`${width}-light`);
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
}
await page.setViewportSize({ width: 1280, height: 900 });

seen.filtered.all = await shown();
for (const name of ["component", "level", "status", "chapter", "change"]) {
  const select = page.locator(`select[name=${name}]`);
  if (!(await select.count())) continue;
  seen.filtered[name] = {};
  for (const value of await select.locator("option").evaluateAll((all) => all.map((each) => each.value).slice(1))) {
    await select.selectOption(value);
    seen.filtered[name][value] = await shown();
  }
  await page.locator("button[type=reset]").click();
  await page.waitForTimeout(50);
}
seen.filtered.reset = await shown();
await page.locator("input[name=search]").fill("com-wire-1 ");
seen.filtered.search = await page.locator(".row:visible .id").allTextContents();
seen.filtered.said = await page.locator("#shown").textContent();
await page.locator("input[name=search]").fill("no such words anywhere");
seen.filtered.nothing = await shown();
seen.filtered.groups = await page.locator(".chapter:visible").count();
await page.locator("button[type=reset]").click();
await page.waitForTimeout(50);

const first = page.locator("details.row summary").first();
if (await first.count()) {
  await first.focus();
  await page.keyboard.press("Enter");
  seen.opened = await page.locator("details.row[open] .body:visible").count();
  await check("opened");
}

const source = page.locator(".finding dd a[href^='#source-']").first();
if (await source.count()) {
  await source.click();
  const passage = page.locator(`[id="${(await source.getAttribute("href")).slice(1)}"]`);
  seen.passage = { visible: await passage.isVisible(), heading: await passage.locator("strong").textContent() };
  await page.evaluate(() => { location.hash = ""; });
}
const cell = page.locator("td details").first();
if (await cell.count()) {
  await cell.locator("summary").click();
  seen.cell = await cell.locator("a:visible").last().getAttribute("href");
  await check("cell");
}

seen.themes.push(await theme());
await page.locator("#theme").click();
seen.themes.push(await theme());
await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
await shoot("1280-dark");
await check("1280-dark");
await page.setViewportSize({ width: 390, height: 844 });
await shoot("390-dark");
await check("390-dark");
// Another process of the browser keeps what a page stores; on a busy machine a reload can overtake it, and it is lost.
for (let tries = 0; tries < 5; tries += 1) {
  await page.reload();
  seen.themes[2] = await theme();
  if (seen.themes[2].name) break;
  await page.locator("#theme").click();
  await page.waitForTimeout(500);
}

await page.setViewportSize({ width: 1280, height: 900 });
await page.emulateMedia({ media: "print" });
seen.printed = { controls: await page.locator("#theme:visible, #filters:visible").count(), rows: await shown() };
seen.pdf = (await page.pdf({ path: join(folder, "page.pdf"), format: "A4" })).length;

await browser.close();
process.stdout.write(JSON.stringify(seen, null, 2));
