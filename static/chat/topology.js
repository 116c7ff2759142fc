// The lab's drawing: loads the server's SVG, zoom, pan, choice and highlight.

import DOMPurify from "../vendor/dompurify/purify.js";
import { stateOf } from "./device.js";
import { gettext, interpolate } from "./i18n.js";

const KINDS = { pc: gettext("PC"), switch: gettext("switch"), hub: gettext("hub"), cloud: gettext("cloud"), router: gettext("router"), firewall: gettext("firewall"), server: gettext("server") };
const STEP = 1.3;
const SAFE = { USE_PROFILES: { svg: true }, FORBID_TAGS: ["style", "a", "image", "use", "foreignObject"], FORBID_ATTR: ["style", "href", "xlink:href"], RETURN_DOM_FRAGMENT: true };

export class TopologyPanel {
  topology = null;
  selectedId = null;
  #source = "";
  #working = "";
  #zoom = 1;
  #center = null;
  #turn = 0;

  constructor({ api, frame, onSelect }) {
    Object.assign(this, { api, frame, onSelect });
    frame.addEventListener("click", (event) => this.#choose(event.target.closest(".tp-node")));
    frame.addEventListener("keydown", (event) => this.#onKey(event));
    frame.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    frame.addEventListener("pointerdown", (event) => this.#drag(event));
  }

  get svg() {
    return this.frame.querySelector("svg");
  }

  nodeByName(name) {
    return this.topology?.nodes.find((node) => node.name === name) ?? null;
  }

  // Resolves to the error, if there was one; an older answer never replaces a newer.
  async load(projectId) {
    const turn = (this.#turn += 1);
    const path = `v3/projects/${projectId}/topology`;
    try {
      const [topology, drawing] = await Promise.all([this.api.get(path), this.api.request("GET", `${path}.svg`, { headers: { Accept: "image/svg+xml" } }).then((response) => response.text())]);
      if (turn !== this.#turn) return null;
      this.topology = topology;
      this.#draw(drawing);
      return null;
    } catch (error) {
      return turn === this.#turn ? error : null;
    }
  }

  clear() {
    this.#turn += 1;
    this.topology = null;
    this.selectedId = null;
    this.#source = "";
    this.frame.replaceChildren();
  }

  #draw(source) {
    if (source === this.#source) return;
    const focusedId = document.activeElement?.closest?.(".tp-node")?.dataset.nodeId;
    this.#source = source;
    // The file's own style is for files; the page has its stylesheet.
    const bare = source.replace(/<style>[^<]*<\/style>/, "");
    this.frame.replaceChildren(DOMPurify.sanitize(bare, SAFE));
    if (!this.svg) return;
    this.svg.setAttribute("aria-label", gettext("Topology"));
    this.svg.querySelector(":scope > .tp-label")?.replaceChildren(gettext("Simulated lab"));
    const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.size = { width, height };
    for (const node of this.frame.querySelectorAll(".tp-node")) {
      node.setAttribute("role", "button");
      node.setAttribute("tabindex", "0");
      this.#speak(node);
      if (node.dataset.nodeId === focusedId) node.focus();
    }
    this.#working = "";
    this.#mark();
    this.#view();
  }

  select(nodeId) {
    this.selectedId = nodeId;
    this.#mark();
    this.onSelect();
  }

  #choose(node) {
    if (node) this.select(node.dataset.nodeId === this.selectedId ? null : node.dataset.nodeId);
  }

  #mark() {
    for (const node of this.frame.querySelectorAll(".tp-node")) node.setAttribute("aria-pressed", String(node.dataset.nodeId === this.selectedId));
  }

  // Names of the devices that a tool works on now.
  highlight(names) {
    const key = [...names].sort().join("\n");
    if (key === this.#working) return;
    this.#working = key;
    const ids = new Set([...names].map((name) => this.nodeByName(name)?.node_id));
    for (const node of this.frame.querySelectorAll(".tp-node")) {
      node.classList.toggle("is-working", ids.has(node.dataset.nodeId));
      this.#speak(node);
    }
  }

  // The file's words are English; the page has its own.
  #speak(node) {
    const device = this.topology.nodes.find((other) => other.node_id === node.dataset.nodeId);
    if (!device) return;
    const values = { name: device.name, kind: KINDS[node.dataset.kind] ?? "", state: stateOf(device) };
    const words = node.classList.contains("is-working") ? gettext("%(name)s, %(kind)s, %(state)s, Copilot is working here") : gettext("%(name)s, %(kind)s, %(state)s");
    const text = interpolate(words, values);
    if (node.getAttribute("aria-label") === text) return;
    node.setAttribute("aria-label", text);
    node.querySelector("title")?.replaceChildren(text);
  }

  zoom(direction) {
    if (!this.svg) return;
    if (direction === "fit") {
      this.#zoom = 1;
      this.#center = null;
    } else this.#zoom = Math.min(6, Math.max(1, this.#zoom * (direction === "in" ? STEP : 1 / STEP)));
    this.#view();
  }

  #view() {
    const { width, height } = this.size;
    const w = width / this.#zoom;
    const h = height / this.#zoom;
    const center = this.#center ?? { x: width / 2, y: height / 2 };
    center.x = Math.min(width - w / 2, Math.max(w / 2, center.x));
    center.y = Math.min(height - h / 2, Math.max(h / 2, center.y));
    this.#center = center;
    this.svg.setAttribute("viewBox", `${center.x - w / 2} ${center.y - h / 2} ${w} ${h}`);
    this.frame.classList.toggle("is-zoomed", this.#zoom > 1);
  }

  #onWheel(event) {
    if (!event.ctrlKey || !this.svg) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? "in" : "out");
  }

  #drag(start) {
    if (this.#zoom === 1 || start.target.closest(".tp-node") || !this.svg) return;
    const scale = this.size.width / this.#zoom / this.svg.getBoundingClientRect().width;
    const from = { ...this.#center };
    const move = (event) => {
      this.#center = { x: from.x - (event.clientX - start.clientX) * scale, y: from.y - (event.clientY - start.clientY) * scale };
      this.#view();
    };
    this.frame.setPointerCapture(start.pointerId);
    this.frame.addEventListener("pointermove", move);
    const end = () => this.frame.removeEventListener("pointermove", move);
    this.frame.addEventListener("pointerup", end, { once: true });
    this.frame.addEventListener("pointercancel", end, { once: true });
  }

  #onKey(event) {
    const node = event.target.closest(".tp-node");
    if (!node) return;
    if (event.key === "Enter" || event.key === " ") this.#choose(node);
    else if (event.key.startsWith("Arrow")) this.#along(node, event.key)?.focus();
    else return;
    event.preventDefault();
  }

  // The neighbour over a link that lies most in the arrow's direction.
  #along(node, key) {
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
    const id = node.dataset.nodeId;
    const ids = new Set((this.topology?.links ?? []).filter((link) => link.ends.some((end) => end.node_id === id)).flatMap((link) => link.ends.map((end) => end.node_id)));
    ids.delete(id);
    const here = centre(node);
    let best = null;
    let bestTurn = 0.3;
    for (const other of this.frame.querySelectorAll(".tp-node")) {
      if (!ids.has(other.dataset.nodeId)) continue;
      const there = centre(other);
      const turn = ((there.x - here.x) * dx + (there.y - here.y) * dy) / Math.hypot(there.x - here.x, there.y - here.y);
      if (turn > bestTurn) [best, bestTurn] = [other, turn];
    }
    return best;
  }
}

function centre(node) {
  const ring = node.querySelector(".tp-sel");
  return { x: Number(ring.getAttribute("cx")), y: Number(ring.getAttribute("cy")) };
}
