// Opens a page of bundles in Chromium, uses its table of cases, and writes what it saw as JSON on stdout:
//   node cases.mjs CHROMIUM PAGE.html FOLDER-FOR-SCREENSHOTS THEME...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, path, folder, ...themes] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const seen = { console: [], requests: [], widths: {}, violations: {} };
const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of themes) {
  const page = await (await browser.newContext({ colorScheme })).newPage();
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.console.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) seen.requests.push(request.url()); });
  await page.goto(pathToFileURL(path).href);
  seen.title = await page.title();
  // The work of the page itself, which a busy machine makes longer, but not a hundredfold.
  seen.loaded = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
  const rows = page.locator(".cases tbody tr");
  if (colorScheme === themes[0]) {  // what a table does has nothing to do with its colours
    const count = async () => (await page.locator(".count output").textContent()).trim();
    seen.first = [await count(), await rows.count()];
    await page.locator(".more").evaluate((button) => button.hidden || button.click());
    seen.more = await rows.count();
    await page.locator(".case-filters select").selectOption("failed");
    seen.failed = await count();
    await page.locator(".case-filters input[type=search]").fill("case-1 be brief");
    seen.searched = await count();
    await page.locator(".case-filters button[type=reset]").click();
    await page.waitForTimeout(50);
    seen.reset = await count();
    const column = page.locator(".cases thead th").nth(2);
    for (const way of ["ascending", "descending"]) {
      await column.locator("button").click();
      seen[way] = [await column.getAttribute("aria-sort"), await rows.first().locator("td").nth(1).textContent()];
    }
  }
  await page.locator(".case-filters select").selectOption("failed");
  await rows.first().locator("summary").click();
  await rows.first().locator("del").first().waitFor();  // the event that fills an opened part comes later
  seen.details = await rows.first().locator("details").textContent();
  seen.parts = [await rows.first().locator("del").count(), await rows.first().locator("ins").count()];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    seen.widths[width] = await page.evaluate(() => document.documentElement.scrollWidth);
    const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
    seen.violations[`${width}-${colorScheme}`] = found.violations
      .filter((each) => ["serious", "critical"].includes(each.impact))
      .map((each) => `${each.id}: ${each.nodes[0].html.slice(0, 150)}`);
    await page.screenshot({ path: join(folder, `${width}-${colorScheme}.png`), fullPage: width === 1280 });
  }
}
await browser.close();
process.stdout.write(JSON.stringify(seen));
