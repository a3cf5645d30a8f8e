// The list of requirements shows only the rows that hold every word that is typed.
document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("filter");
  if (!field) return;
  const said = field.parentElement.querySelector("output");
  const rows = [...document.querySelectorAll("tr[id]")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word));
      count += row.hidden ? 0 : 1;
    });
    document.querySelectorAll("section section").forEach((section) => {
      section.hidden = !section.querySelector("tr[id]:not([hidden])");
    });
    said.textContent = words.length ? `${count} of ${rows.length}` : "";
  };
  field.addEventListener("input", show);
  field.value = new URLSearchParams(location.search).get("q") || "";
  show();
});

// A search for an id leads to its place, before whatever else holds its parts.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const wanted = (new URLSearchParams(location.search).get("q") || "").trim().toUpperCase();
  const found = /^(R\d+)$|^([A-Z]{3}-[A-Z]+)-\d+$|^([A-Z_]+) ([\d.]+|[A-G](?:\.[A-E])?)$/.exec(wanted);
  if (!results || !found) return;
  const page = found[1] ? "rulings" : found[2] ? `requirements/${found[2].toLowerCase()}` : "documents/sections";
  const link = document.createElement("a");
  link.href = `${page}.html#${wanted.replace(" ", "-")}`;
  link.textContent = `Go to ${wanted}`;
  const line = document.createElement("p");
  line.append(link);
  results.before(line);
});
