// Menus in the top layer, next to what opened them; arrow keys move, Escape closes.

import { h, icon } from "./dom.js";

let open = null;

// items: {label, lang?, icon?, hint?, isChosen?, isDanger?, act} | "line" | {group} | {node}
export function openMenu(anchor, label, items) {
  if (open?.anchor === anchor) return open.close();
  open?.close();
  const menu = h("div", { class: "menu menu--float", role: "menu", "aria-label": label, popover: "manual" }, ...items.map(itemNode));
  const close = (refocus = true) => {
    menu.remove();
    open = null;
    anchor.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", close);
    if (refocus) anchor.focus();
  };
  const outside = (event) => {
    if (!menu.contains(event.target) && !anchor.contains(event.target)) close(false);
  };
  open = { anchor, close };
  (anchor.closest("nav, main, aside") ?? document.body).append(menu);
  menu.showPopover();
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", close);
  menu.addEventListener("keydown", (event) => onKey(event, menu, close));
  menu.addEventListener("click", (event) => {
    const chosen = event.target.closest("[role^=menuitem]");
    if (!chosen) return;
    close();
    chosen.dispatchEvent(new CustomEvent("choose"));
  });
  (menu.querySelector("[aria-checked=true]") ?? menu.querySelector("[role^=menuitem]"))?.focus();
  return undefined;
}

export const isMenuOpen = () => open !== null;

function itemNode(item) {
  if (item === "line") return h("hr");
  if (item.group) return h("p", { class: "menu__label", role: "presentation" }, item.group);
  const isChoice = item.isChosen !== undefined;
  return h("button", {
    type: "button", class: `menu__item${item.isDanger ? " btn--danger" : ""}`, tabindex: "-1",
    role: isChoice ? "menuitemradio" : "menuitem", "aria-checked": isChoice ? String(item.isChosen) : null, onchoose: item.act,
  }, icon(item.isChosen ? "check" : (item.icon ?? "right")), h("span", { class: "grow" }, h("span", { dir: "auto", lang: item.lang }, item.label), item.hint ? h("small", {}, item.hint) : null), ...(item.badge ? [item.badge] : []));
}

function onKey(event, menu, close) {
  const items = [...menu.querySelectorAll("[role^=menuitem]")];
  const index = items.indexOf(document.activeElement);
  const move = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key];
  if (move !== undefined) items.at(move % items.length)?.focus();
  else if (event.key === "Escape" || event.key === "Tab") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function place(menu, anchor) {
  const box = anchor.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  const isRtl = document.documentElement.dir === "rtl";
  const wanted = isRtl ? box.right - size.width : box.left;
  const left = Math.max(8, Math.min(wanted, innerWidth - size.width - 8));
  const fitsBelow = box.bottom + size.height + 12 < innerHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(8, fitsBelow ? box.bottom + 4 : box.top - size.height - 4)}px`;
}
