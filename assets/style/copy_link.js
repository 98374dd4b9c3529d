export default function (component) {
  const { data, parentElement } = component;
  const button = parentElement.querySelector("button");
  const label = parentElement.querySelector(".label");
  const said = parentElement.querySelector(".said");
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not allowed");
  };
  let timer;
  button.onclick = async () => {
    clearTimeout(timer);
    try {
      await copy(window.location.href);
      label.textContent = "Copied";
      said.textContent = data.lost;
    } catch {
      label.textContent = "Not copied";
      said.textContent = "The browser does not allow it. Take the address: " + window.location.href;
      return;
    }
    timer = setTimeout(() => { label.textContent = "Copy link"; said.textContent = ""; }, data.lost ? 8000 : 2500);
  };
  return () => clearTimeout(timer);
}
