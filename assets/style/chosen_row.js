export default function ({ data, parentElement, setTriggerValue }) {
  const choose = ({ target }) => {
    const row = target.closest("tr[data-edit]");
    if (row && !String(getSelection())) setTriggerValue("edit", row.dataset.edit); // who selects a number wants it
  };
  document.addEventListener("click", choose);
  const before = parentElement.turn ?? data.turn; // what was asked for before the page was opened is no wish of now
  parentElement.turn = data.turn;
  if (data.turn !== before) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const host = parentElement.host;
    host.style.scrollMarginTop = "3.2rem"; // the menu of the app lies over the page's upper edge
    requestAnimationFrame(() => host.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" }));
  }
  return () => document.removeEventListener("click", choose);
}
