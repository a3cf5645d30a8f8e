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
