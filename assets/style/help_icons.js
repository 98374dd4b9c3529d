const ICONS = 'button[aria-label^="Help for "]';
const CONTROLS = 'input, textarea, select, [role="slider"], [role="radiogroup"], [role="combobox"], button';

// The words of a help are in no element before its pop-over opens: they are what Streamlit's icon was made with.
function words(icon) {
  const own = Object.keys(icon).find((name) => name.startsWith("__reactFiber$"));
  for (let node = own && icon[own], up = 0; node && up < 12; node = node.return, up += 1) {
    const source = node.memoizedProps?.content?.props?.source;
    if (typeof source === "string") return source.replace(/[*_`\\]/g, "").replace(/\s+/g, " ").trim();
  }
  return "";
}

function controls(icon) {
  const widget = icon.closest('[data-testid="stElementContainer"]');
  return [...(widget?.querySelectorAll(CONTROLS) ?? [])].filter((each) => !each.matches(ICONS));
}

function tell() {
  for (const icon of document.querySelectorAll(ICONS)) {
    if (icon.tabIndex !== -1) icon.tabIndex = -1;
    const said = words(icon);
    if (!said) continue;
    for (const each of [icon, ...controls(icon).slice(0, 1)]) {
      if (each.getAttribute("aria-description") !== said) each.setAttribute("aria-description", said);
    }
  }
}

export default function () {
  let waiting = 0;
  const soon = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      tell();
    });
  };
  const watch = new MutationObserver(soon);
  watch.observe(document.body, { childList: true, subtree: true });
  tell();
  return () => {
    watch.disconnect();
    cancelAnimationFrame(waiting);
  };
}
