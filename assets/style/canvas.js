// The object of a picture: a box with eight handles, a brush and an eraser for its mask. What is drawn goes to the
// server as one message; the server answers with what it made of it. Lengths are in pixels of the item, the mask is
// as large as the picture that is shown.
const EDGES = { n: [0.5, 0], s: [0.5, 1], e: [1, 0.5], w: [0, 0.5], nw: [0, 0], ne: [1, 0], sw: [0, 1], se: [1, 1] };
const NAMES = { n: "Upper edge", s: "Lower edge", e: "Right edge", w: "Left edge", nw: "Upper left corner",
  ne: "Upper right corner", sw: "Lower left corner", se: "Lower right corner" };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LEAST = 4; // px of the item: a smaller box is a click

export default function ({ data, parentElement: root, setTriggerValue }) {
  const find = (query) => root.querySelector(query);
  const stage = find(".stage"), shown = find("canvas"), frame = find(".box"), ring = find(".ring"), size = find("input");
  // On a touch screen a finger on the picture scrolls the page until a tool is chosen.
  const own = (root.own ??= { turn: 0, id: "", tool: matchMedia("(hover: none)").matches ? "" : "box", seen: true,
    mask: document.createElement("canvas"), picture: new Image() });
  own.send = (what) => {
    own.turn = Math.max(own.turn, data.turn) + 1;
    setTriggerValue("drawn", { turn: own.turn, picture: data.id, ...what });
  };

  if (!frame.children.length) frame.append(...Object.keys(EDGES).map(handle));

  const paint = () => {
    const pen = shown.getContext("2d");
    pen.clearRect(0, 0, shown.width, shown.height);
    if (own.picture.complete && own.picture.naturalWidth) pen.drawImage(own.picture, 0, 0, shown.width, shown.height);
    if (!own.seen) return;
    pen.globalAlpha = 0.35;
    pen.drawImage(own.mask, 0, 0);
    pen.globalAlpha = 1;
    pen.drawImage(outline(own.mask), 0, 0);
  };
  const place = () => {
    frame.hidden = !own.box;
    if (!own.box) return;
    const { x, y, w, h } = own.box;
    Object.assign(frame.style, { left: `${(100 * x) / data.width}%`, top: `${(100 * y) / data.height}%`,
      width: `${(100 * w) / data.width}%`, height: `${(100 * h) / data.height}%` });
    frame.setAttribute("aria-label", `Box at ${Math.round(x)}, ${Math.round(y)}, ${Math.round(w)} by ${Math.round(h)} ` +
      "pixels; arrow keys move it, with Shift they resize it");
  };
  const choose = (tool) => {
    own.tool = tool;
    stage.classList.toggle("drawing", tool !== "");
    stage.classList.toggle("boxing", tool !== "brush" && tool !== "eraser");
    for (const each of root.querySelectorAll("[data-tool]"))
      each.setAttribute("aria-pressed", String(each.dataset.tool === tool));
    size.parentElement.hidden = tool !== "brush" && tool !== "eraser";
    ring.hidden = true;
  };

  // What the server says holds, unless it has not heard yet of what was drawn since, or something is being drawn.
  const other = own.id !== data.id;
  if (other || (data.turn >= own.turn && !own.drag)) {
    Object.assign(own, { id: data.id, turn: other ? data.turn : own.turn, drag: null });
    own.box = data.box && { x: data.box[0], y: data.box[1], w: data.box[2], h: data.box[3] };
    [shown.width, shown.height] = data.size;
    stage.style.aspectRatio = `${data.width} / ${data.height}`;
    stage.style.width = `min(100%, calc(24rem * ${data.width / data.height}))`;
    shown.setAttribute("aria-label", data.alt);
    if (own.picture.src !== data.picture) { own.picture.onload = paint; own.picture.src = data.picture; }
    const [across, down] = data.size, turn = own.turn, next = new Image();
    const adopt = (drawn) => {
      if (own.turn !== turn || own.id !== data.id || own.drag) return;
      Object.assign(own.mask, { width: across, height: down }); // which empties it
      if (drawn) own.mask.getContext("2d").drawImage(next, 0, 0, across, down);
      paint();
    };
    next.onload = () => adopt(true);
    if (data.mask) next.src = data.mask; else adopt(false);
  }
  place();
  choose(own.tool);
  find("[data-do=undo]").disabled = !data.undo;
  find("[data-do=clear]").disabled = !data.own;

  const at = (event) => {
    const { left, top, width, height } = stage.getBoundingClientRect();
    return [((event.clientX - left) * data.width) / width, ((event.clientY - top) * data.height) / height];
  };
  const within = ({ x, y, w, h }, moved) => {
    const right = clamp(x + w, data.width), bottom = clamp(y + h, data.height);
    if (moved) return { x: clamp(x, data.width - w), y: clamp(y, data.height - h), w, h };
    const [left, top] = [clamp(x, data.width), clamp(y, data.height)];
    return { x: left, y: top, w: right - left, h: bottom - top };
  };
  const pulled = (box, edge, dx, dy) => {
    let [left, top, right, bottom] = [box.x, box.y, box.x + box.w, box.y + box.h];
    if (edge.includes("w")) left += dx;
    if (edge.includes("e")) right += dx;
    if (edge.includes("n")) top += dy;
    if (edge.includes("s")) bottom += dy;
    return within({ x: Math.min(left, right), y: Math.min(top, bottom), w: Math.abs(right - left),
      h: Math.abs(bottom - top) }, false);
  };
  const sendBox = () => own.send({ box: [own.box.x, own.box.y, own.box.w, own.box.h].map((each) => Math.round(each)) });
  const stroke = (from, to) => {
    const scale = data.size[0] / data.width, pen = own.mask.getContext("2d");
    pen.globalCompositeOperation = own.tool === "brush" ? "source-over" : "destination-out";
    Object.assign(pen, { lineCap: "round", lineWidth: width(), strokeStyle: data.colour });
    pen.fillStyle = data.colour;
    pen.beginPath();
    pen.arc(to[0] * scale, to[1] * scale, width() / 2, 0, 2 * Math.PI); // a tap is a line without length
    pen.fill();
    pen.beginPath();
    pen.moveTo(from[0] * scale, from[1] * scale);
    pen.lineTo(to[0] * scale, to[1] * scale);
    pen.stroke();
    pen.globalCompositeOperation = "source-over";
    paint();
  };
  const width = () => (Number(size.value) / 100) * Math.max(...data.size);

  stage.onpointerdown = (event) => {
    if (event.button || (!own.tool && !event.target.closest(".handle"))) return;
    event.preventDefault();
    stage.setPointerCapture(event.pointerId);
    const from = at(event), edge = event.target.dataset?.at;
    if (own.tool === "brush" || own.tool === "eraser") {
      own.drag = { paints: true, last: from };
      stroke(from, from);
      return;
    }
    (edge ? event.target : frame).focus({ preventScroll: true });
    own.drag = { from, box: own.box, edge: edge ?? (event.target === frame ? "" : "new") };
  };
  stage.onpointermove = (event) => {
    const to = at(event), drag = own.drag;
    const painting = own.tool === "brush" || own.tool === "eraser";
    ring.hidden = !painting || event.pointerType === "touch";
    if (!ring.hidden) {
      const across = (100 * width()) / data.size[0];
      Object.assign(ring.style, { left: `${(100 * to[0]) / data.width}%`, top: `${(100 * to[1]) / data.height}%`,
        width: `${across}%`, aspectRatio: "1" });
    }
    if (!drag) return;
    if (drag.paints) { stroke(drag.last, to); drag.last = to; return; }
    const [dx, dy] = [to[0] - drag.from[0], to[1] - drag.from[1]];
    if (drag.edge === "new") own.box = pulled({ x: drag.from[0], y: drag.from[1], w: 0, h: 0 }, "se", dx, dy);
    else if (drag.edge) own.box = pulled(drag.box, drag.edge, dx, dy);
    else own.box = within({ ...drag.box, x: drag.box.x + dx, y: drag.box.y + dy }, true);
    place();
  };
  stage.onpointerup = () => {
    const drag = own.drag;
    own.drag = null;
    if (!drag) return;
    if (drag.paints) { own.send({ mask: exported(own.mask) }); return; }
    const same = drag.box && own.box && ["x", "y", "w", "h"].every((side) => drag.box[side] === own.box[side]);
    if (same || !own.box || own.box.w < LEAST || own.box.h < LEAST) { own.box = drag.box; place(); return; }
    sendBox();
  };
  stage.onpointercancel = () => {
    if (own.drag && !own.drag.paints) { own.box = own.drag.box; place(); }
    own.drag = null;
  };
  stage.onpointerleave = () => { ring.hidden = true; };

  frame.onkeydown = (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow || !own.box || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // the page has arrow keys of its own
    const step = Math.max(1, Math.round(Math.max(data.width, data.height) / 200));
    const [dx, dy] = arrow.map((each) => each * step), edge = event.target.dataset.at ?? (event.shiftKey ? "se" : "");
    const next = edge ? pulled(own.box, edge, dx, dy)
      : within({ ...own.box, x: own.box.x + dx, y: own.box.y + dy }, true);
    if (next.w < LEAST || next.h < LEAST) return;
    own.box = next;
    place();
    clearTimeout(own.waiting);
    own.waiting = setTimeout(sendBox, 500);
  };
  find("figure").onkeydown = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z" || !data.undo) return;
    event.preventDefault();
    own.send({ undo: true });
  };
  find(".tools").onclick = (event) => {
    const { tool, do: act } = event.target.closest("button")?.dataset ?? {};
    if (tool) choose(own.tool === tool ? "" : tool);
    if (act === "outline") { own.seen = !own.seen; event.target.setAttribute("aria-pressed", String(own.seen)); paint(); }
    if (act === "undo" || act === "clear") own.send({ [act]: true });
  };
}

const clamp = (value, most) => Math.min(Math.max(value, 0), Math.max(most, 0));

/** The button by which an edge or a corner of the box is pulled. */
function handle(name) {
  const [across, down] = EDGES[name], made = document.createElement("button");
  Object.assign(made, { type: "button", className: "handle", tabIndex: -1 });
  made.setAttribute("aria-label", `${NAMES[name]} of the box`);
  made.dataset.at = name;
  Object.assign(made.style, { left: `${100 * across}%`, top: `${100 * down}%` });
  return made;
}

/** The rim of a mask, two pixels wide. */
function outline(mask) {
  const rim = document.createElement("canvas");
  Object.assign(rim, { width: mask.width || 1, height: mask.height || 1 });
  if (!mask.width) return rim;
  const pen = rim.getContext("2d");
  for (const [x, y] of Object.values(EDGES)) pen.drawImage(mask, 4 * (x - 0.5), 4 * (y - 0.5));
  pen.globalCompositeOperation = "destination-out";
  pen.drawImage(mask, 0, 0);
  return rim;
}

/** A mask as the address of a PNG, white on black. */
function exported(mask) {
  const file = document.createElement("canvas");
  Object.assign(file, { width: mask.width, height: mask.height });
  const pen = file.getContext("2d");
  pen.drawImage(mask, 0, 0);
  pen.globalCompositeOperation = "source-in";
  pen.fillStyle = "#FFFFFF";
  pen.fillRect(0, 0, file.width, file.height);
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "#000000";
  pen.fillRect(0, 0, file.width, file.height);
  return file.toDataURL("image/png");
}
