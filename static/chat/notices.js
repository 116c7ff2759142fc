// Notes that stand for a whole page or above the field: what happened, one next step.

import { button, h, icon } from "./dom.js";

export function note({ name, title, text, acts = [], tone = "", isAlert = false }) {
  return h("div", { class: `note ${tone}`.trim(), role: isAlert ? "alert" : null }, icon(name), h("div", { class: "note__body" },
    h("h2", { class: "note__title" }, title), text ? h("p", {}, text) : null, acts.length ? h("div", { class: "note__acts" }, ...acts) : null));
}

// What a refused message needs before it can be sent.
export function problemNote(problem, { isStaff, onAct }) {
  if (problem.code === "llm_not_configured") {
    return note({
      name: "chip", title: "No model is set up", isAlert: true,
      text: isStaff ? "Your message is kept in the field. Add a model in the settings, then send it." : "Your message is kept in the field. Ask an operator of this server to add a model.",
      acts: isStaff ? [button("Add a model", { class: "btn btn--primary", onclick: () => onAct("settings") })] : [],
    });
  }
  if (problem.code === "project_not_opened") {
    return note({ name: "lock", title: "The project is closed", text: "Your message is kept in the field. Open the project to chat.", isAlert: true, acts: [button("Open project", { class: "btn btn--primary", onclick: () => onAct("open-project") })] });
  }
  if (problem.code === "busy") {
    return note({
      name: "clock", tone: "note--wait", title: "An answer is still being written", text: "Your message is kept in the field. It can wait in line.", isAlert: true,
      acts: [button("Send when it ends", { class: "btn btn--primary", onclick: () => onAct("queue") })],
    });
  }
  return note({ name: "alert", tone: "note--bad", title: "That did not work", text: problem.text, isAlert: true });
}

export function closedNote(project, isOpening, onOpen) {
  return note({
    name: "lock", title: `${project.name} is closed`, text: "You can read its conversations. To chat, open it.",
    acts: [button("Open project", { class: "btn btn--primary", disabled: isOpening, onclick: onOpen }, isOpening ? "Opening…" : "Open project")],
  });
}

export function noProjects(onReload) {
  return note({
    name: "plug", title: "No projects yet",
    text: "Create a project in GNS3, or ask an operator to add your GNS3 server or to give you access to a project. It appears here by itself.",
    acts: [button("Look again", { onclick: onReload }, icon("retry"), "Look again")],
  });
}

export function loadFailed(error, onRetry) {
  if (error.status === 404) return note({ name: "search", title: "No such conversation", text: "It was deleted, or it is someone else's.", isAlert: true, acts: [button("New conversation", { onclick: onRetry.fresh })] });
  return note({ name: "alert", tone: "note--bad", title: "This could not be loaded", text: error.message, isAlert: true, acts: [button("Retry", { onclick: onRetry.again }, icon("retry"), "Retry")] });
}

// First screen of an empty conversation: questions made from the lab's own names.
export function welcome(topology, isSimulated, onAsk) {
  return h("div", { class: "hello" },
    h("div", {}, h("h2", {}, "Talk to your lab"), h("p", { class: "hello__lead" }, "Copilot reads the topology and runs commands on the consoles. It shows what each device said, so you can check every answer.")),
    h("div", { class: "stack" }, h("p", { class: "soft" }, isSimulated ? "Try a question on the simulated lab" : "Try a question"),
      h("div", { class: "tries" }, ...questions(topology).map((text) => button(text, { class: "btn try", dir: "auto", onclick: () => onAsk(text) })))));
}

function questions(topology) {
  const nodes = topology?.nodes ?? [];
  const pcs = nodes.filter((node) => node.node_type === "vpcs").map((node) => node.name).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const routers = nodes.filter((node) => ["dynamips", "iou"].includes(node.node_type)).map((node) => node.name);
  return [
    pcs.length >= 2 ? `Why can't ${pcs[0]} reach ${pcs[1]}?` : null,
    routers.length ? `Which routes does ${routers[0]} have?` : null,
    nodes.length ? "How is this lab addressed?" : "Add two PCs and a switch, and connect them.",
    nodes.length ? "What is wrong with this lab?" : null,
  ].filter(Boolean);
}
