// Notes that stand for a whole page or above the field: what happened, one next step.

import { button, h, icon } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";

export function note({ name, title, text, acts = [], tone = "", isAlert = false }) {
  return h("div", { class: `note ${tone}`.trim(), role: isAlert ? "alert" : null }, icon(name), h("div", { class: "note__body" },
    h("h2", { class: "note__title" }, title), text ? h("p", {}, text) : null, acts.length ? h("div", { class: "note__acts" }, ...acts) : null));
}

// What a refused message needs before it can be sent.
export function problemNote(problem, { onAct }) {
  if (problem.code === "llm_not_configured") {
    return note({
      name: "chip", title: gettext("No model is set up"), isAlert: true,
      text: gettext("Your message is kept in the field. Add a model in your settings, or ask an operator of this server to add one; then send it."),
      acts: [button(gettext("Add a model"), { class: "btn btn--primary", onclick: () => onAct("settings") })],
    });
  }
  if (problem.code === "project_not_opened") {
    return note({ name: "lock", title: gettext("The project is closed"), text: gettext("Your message is kept in the field. Open the project to chat."), isAlert: true, acts: [button(gettext("Open project"), { class: "btn btn--primary", onclick: () => onAct("open-project") })] });
  }
  if (problem.code === "busy") {
    return note({
      name: "clock", tone: "note--wait", title: gettext("An answer is still being written"), text: gettext("Your message is kept in the field. It can wait in line."), isAlert: true,
      acts: [button(gettext("Send when it ends"), { class: "btn btn--primary", onclick: () => onAct("queue") })],
    });
  }
  return note({ name: "alert", tone: "note--bad", title: gettext("That did not work"), text: problem.text, isAlert: true });
}

export function closedNote(project, isOpening, onOpen) {
  return note({
    name: "lock", title: interpolate(gettext("%(name)s is closed"), { name: project.name }), text: gettext("You can read its conversations. To chat, open it."),
    acts: [button(isOpening ? gettext("Opening…") : gettext("Open project"), { class: "btn btn--primary", disabled: isOpening, onclick: onOpen })],
  });
}

export function noProjects(onReload) {
  return note({
    name: "plug", title: gettext("No projects yet"),
    text: gettext("Create a project in GNS3, or ask an operator to add your GNS3 server or to give you access to a project. It appears here by itself."),
    acts: [button("", { onclick: onReload }, icon("retry"), gettext("Look again"))],
  });
}

export function loadFailed(error, onRetry) {
  if (error.status === 404) return note({ name: "search", title: gettext("No such conversation"), text: gettext("It was deleted, or it is someone else's."), isAlert: true, acts: [button(gettext("New conversation"), { onclick: onRetry.fresh })] });
  return note({ name: "alert", tone: "note--bad", title: gettext("This could not be loaded"), text: error.message, isAlert: true, acts: [button("", { onclick: onRetry.again }, icon("retry"), gettext("Retry"))] });
}
