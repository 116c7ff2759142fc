// Builds DOM nodes; text only ever becomes text, so nothing here can run markup.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name, variant = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon ${variant}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name.startsWith("d-") ? name : `i-${name}`}`);
  svg.append(use);
  return svg;
}

export function button(label, attributes = {}, ...children) {
  return h("button", { type: "button", class: "btn", ...attributes }, ...(children.length ? children : [label]));
}

export function iconButton(name, label, attributes = {}) {
  return h("button", { type: "button", class: "iconbtn iconbtn--sm", "aria-label": label, ...attributes }, icon(name, "icon--sm"));
}

export function spinner(label = "") {
  return h("span", label ? { class: "spin", role: "img", "aria-label": label } : { class: "spin" });
}

// Makes `parent` look like `fresh` and touches only what differs, so that a
// selection or an open fold in the unchanged part survives.
export function patchChildren(parent, fresh) {
  let index = 0;
  for (; index < fresh.length; index += 1) {
    const current = parent.childNodes[index];
    if (current === fresh[index] || current?.isEqualNode(fresh[index])) continue;
    if (current) current.replaceWith(fresh[index]);
    else parent.append(fresh[index]);
  }
  while (parent.childNodes.length > index) parent.lastChild.remove();
}

// Clipboard and randomUUID exist only on https and localhost; labs are often neither.
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = h("textarea", { class: "sr", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
