export default function ({ data, parentElement }) {
  const [before, after] = ["before", "after"].map((each) => parentElement.querySelector("." + each));
  const edge = parentElement.querySelector(".edge");
  const input = parentElement.querySelector("input");
  input.dir = data.right ? "ltr" : "rtl"; // the thumb stands below the edge
  input.parentElement.style.flexDirection = data.right ? "row-reverse" : "row"; // each word on its own side
  before.src = data.before; after.src = data.after;
  before.alt = data.alt + ", as it is"; after.alt = data.alt + ", edited";
  input.setAttribute("aria-label", "How much of the variant is uncovered, in percent");
  const show = () => {
    const value = Number(input.value), left = data.right ? value : 100 - value;
    before.style.clipPath = data.right ? `inset(0 0 0 ${left}%)` : `inset(0 ${100 - left}% 0 0)`;
    edge.style.left = left + "%";
  };
  const opens = [data.before.length, data.after.length, data.split, data.right].join();
  if (parentElement.opens !== opens) { parentElement.opens = opens; input.value = data.split; }
  const blink = parentElement.querySelector("button");
  const swap = () => { input.value = Number(input.value) > 50 ? 0 : 100; show(); };
  const still = () => {
    clearInterval(parentElement.blinking);
    parentElement.blinking = null;
    blink.setAttribute("aria-pressed", "false");
  };
  blink.onclick = () => {
    if (parentElement.blinking) { still(); return; }
    swap();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    parentElement.blinking = setInterval(swap, 700);
    blink.setAttribute("aria-pressed", "true");
  };
  input.oninput = () => { still(); show(); };
  show();
  return still;
}
