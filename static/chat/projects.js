// The project picker: the bar above the conversations and its menu.

import { h, icon } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { openMenu } from "./menu.js";

export const isOpen = (project) => project.status === "opened";
export const simulatedBadge = () => h("span", { class: "badge badge--sim" }, icon("flask"), gettext("Simulated lab"));
export const offlineBadge = () => h("span", { class: "badge badge--sim" }, icon("list"), gettext("Offline model"));

function where(project) {
  const words = isOpen(project) ? gettext("Open on %(server)s") : gettext("Closed on %(server)s");
  return interpolate(words, { server: project.server?.name || "GNS3" });
}

export function showProject(project, nameBox, whereBox) {
  nameBox.textContent = project?.name ?? gettext("No project");
  whereBox.replaceChildren(...(project ? [h("span", { class: isOpen(project) ? "dot dot--up" : "dot dot--down" }), h("span", { class: "cut" }, where(project))] : []));
}

export function openProjectMenu(anchor, { projects, current, onChoose, onClose }) {
  const items = projects.map((project) => ({
    label: project.name,
    hint: [where(project), project.server?.is_simulated ? gettext("simulated lab") : ""].filter(Boolean).join(" · "),
    icon: isOpen(project) ? "nodes" : "lock",
    isChosen: project.project_id === current?.project_id,
    act: () => onChoose(project),
  }));
  if (!items.length) items.push({ label: gettext("Look again"), icon: "retry", act: () => onChoose(null) });
  if (current && isOpen(current)) items.push("line", { label: gettext("Close this project…"), icon: "power", act: onClose });
  openMenu(anchor, gettext("Projects"), items);
}
