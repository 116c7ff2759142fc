// The two dialogs: a question with a way back, and a line of text.

import { button, h } from "./dom.js";
import { gettext } from "./i18n.js";

function ask(title, content, confirm, isDanger) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" },
      h("form", { method: "dialog" },
        h("div", { class: "dialog__body" }, h("h2", { id: "dialog-title" }, title), content),
        h("div", { class: "dialog__foot" },
          button(gettext("Cancel"), { class: "btn btn--quiet", onclick: () => dialog.close("") }),
          h("button", { type: "submit", value: "yes", class: isDanger ? "btn btn--danger" : "btn btn--primary" }, confirm))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const confirmDeed = (title, text, confirm) => ask(title, h("p", { class: "soft" }, text), confirm, true);

export async function askText(title, label, value, maxLength) {
  const input = h("input", { class: "input", id: "dialog-text", value, maxlength: maxLength, required: true, dir: "auto", autocomplete: "off" });
  const answer = ask(title, h("div", { class: "field" }, h("label", { for: "dialog-text" }, label), input), gettext("Save"), false);
  input.focus();
  input.select();
  return (await answer) ? input.value.trim() : null;
}

let timer = null;

// Says what was done or went wrong; never what must be decided.
export function toast(text, isBad = false) {
  let box = document.querySelector("#toasts");
  if (!box) {
    box = h("div", { class: "toasts toasts--float", id: "toasts", role: "status" });
    document.body.append(box);
  }
  box.replaceChildren(h("div", { class: isBad ? "toast toast--bad" : "toast" }, h("span", { class: "grow" }, text)));
  clearTimeout(timer);
  timer = setTimeout(() => box.replaceChildren(), 6000);
}
