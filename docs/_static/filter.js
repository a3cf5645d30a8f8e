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
  const wanted = new URLSearchParams(location.search).get("q");
  if (wanted) field.value = wanted;
  show();
});
