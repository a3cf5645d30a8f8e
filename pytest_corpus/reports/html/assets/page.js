"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");

  // Where storage is forbidden, as in a sandboxed frame, the choice lasts as long as the page.
  const kept = (value) => {
    try {
      return value === undefined ? localStorage.getItem("corpus-theme") : localStorage.setItem("corpus-theme", value);
    } catch {
      return null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const named = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };

  const before = kept();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  button.hidden = false;
  named();
  dark.addEventListener("change", named);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept(root.dataset.theme);
    named();
  });

  // A page that was opened from a file has no clipboard of its own everywhere: then the text is selected.
  for (const copy of document.querySelectorAll("button.copy")) {
    const text = copy.parentElement.querySelector("code");
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.innerText);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
  }

  // Tables of cases: filtered and sorted as data, and drawn as far as somebody looks.
  const made = (name, content, className = "") => {
    const node = document.createElement(name);
    node.append(...[content].flat());
    if (className) node.className = className;
    return node;
  };
  const difference = (parts) => made("pre", parts.map(([sign, part]) => (
    sign ? made(sign === "-" ? "del" : "ins", part) : part)));
  const value = (given) => (Array.isArray(given) ? difference(given) : made("pre", given));
  const details = (said) => {
    const first = said.map((each) => each[2]).find(Boolean) ?? "";
    if (!said.some((each) => each[3].length)) return first;
    const box = made("details", made("summary", first || "answer"));
    box.addEventListener("toggle", () => {
      if (box.children.length > 1) return;
      for (const [label, status, , rows] of said) {
        if (said.length > 1) box.append(made("h4", `${label}: ${status.replace("_", " ")}`));
        box.append(made("dl", rows.map(([name, given]) => made("div", [made("dt", name), made("dd", value(given))])), "pairs"));
      }
    });
    return box;
  };
  for (const own of document.querySelectorAll("form.case-filters")) {
    const table = document.getElementById(own.dataset.table);
    const { signs, tones, rows } = JSON.parse(document.getElementById(`${own.dataset.table}-data`).textContent);
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const count = own.nextElementSibling.querySelector("output");
    const more = table.nextElementSibling;
    const texts = new Map();
    let fitting = rows;
    const text = (row) => {
      if (!texts.has(row)) texts.set(row, JSON.stringify([row[0], row[3]]).toLowerCase());
      return texts.get(row);
    };
    const drawn = ([name, statuses, numbers, said]) => {
      const head = made("th", made("code", name));
      head.scope = "row";
      const words = statuses.map((each) => {
        const sign = made("span", signs[each] ?? "");
        sign.setAttribute("aria-hidden", "true");
        return made("td", [sign, ` ${each.replace("_", " ")}`], tones[each] ?? "absent");
      });
      const shown = numbers.map((each) => made("td", each === null ? "" : String(Number(each.toPrecision(4))), "number"));
      return made("tr", [head, ...words, ...shown, made("td", details(said))]);
    };
    const draw = () => {
      const from = body.rows.length;
      body.append(...fitting.slice(from, from + 100).map(drawn));
      more.hidden = body.rows.length >= fitting.length;
      more.textContent = `Show more (${fitting.length - body.rows.length} left)`;
    };
    const narrow = () => {
      const wanted = Object.fromEntries(new FormData(own));
      const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
      fitting = rows.filter((row) => (!wanted.status || row[1].includes(wanted.status))
        && (!wanted.differ || new Set(row[1]).size > 1) && words.every((word) => text(row).includes(word)));
      count.textContent = `${fitting.length} of ${rows.length} cases`;
      body.replaceChildren();
      draw();
    };
    const cell = (row, at) => [row[0], ...row[1], ...row[2], row[3].map((each) => each[2]).find(Boolean) ?? ""][at] ?? "";
    const collator = new Intl.Collator("en", { numeric: true });
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));
    heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
      const keyed = rows.map((row) => [cell(row, at), row]);
      keyed.sort(([a], [b]) => (a === "") - (b === "") || way * order(a, b)); // empty cells stay at the end
      rows.splice(0, rows.length, ...keyed.map(([, row]) => row));
      narrow();
    }));
    more.addEventListener("click", draw);
    own.hidden = false;
    own.addEventListener("input", narrow);
    own.addEventListener("submit", (event) => event.preventDefault());
    own.addEventListener("reset", () => setTimeout(narrow));
    narrow();
  }

  const form = document.getElementById("filters");
  if (!form) return;
  const shown = document.getElementById("shown");
  const rows = [...document.querySelectorAll(".row")].map((row) => ({
    row, ...row.dataset, text: row.textContent.toLowerCase(), statuses: row.dataset.status.split(" "),
  }));
  const groups = [...document.querySelectorAll(".chapter")];
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const each of rows) {
      const fits = (!wanted.component || each.component.split(" ").includes(wanted.component))
        && (!wanted.level || each.level === wanted.level)
        && (!wanted.chapter || each.chapter === wanted.chapter)
        && (!wanted.change || each.change === wanted.change)
        && (!wanted.status || each.statuses.includes(wanted.status))
        && (!wanted.differ || new Set(each.statuses).size > 1)
        && words.every((word) => each.text.includes(word));
      each.row.hidden = !fits;
      count += fits && !each.more ? 1 : 0;
    }
    for (const group of groups) group.hidden = !group.querySelector(".row:not([hidden])");
    shown.textContent = `${count} of ${rows.filter((each) => !each.more).length} ${form.dataset.rows ?? "requirements"}`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply();

  // A link shows what it leads to, whatever is filtered or folded.
  const visit = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden) { form.reset(); apply(); }
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", visit);
  visit();
})();
