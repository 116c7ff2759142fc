// The project picker: the bar above the conversations and its menu.

import { h, icon } from "./dom.js";
import { openMenu } from "./menu.js";

export const isOpen = (project) => project.status === "opened";
export const simulatedBadge = () => h("span", { class: "badge badge--sim" }, icon("flask"), "Simulated lab");
export const offlineBadge = () => h("span", { class: "badge badge--sim" }, icon("list"), "Offline model");

const where = (project) => `${isOpen(project) ? "Open" : "Closed"} on ${project.server?.name || "GNS3"}`;

export function showProject(project, nameBox, whereBox) {
  nameBox.textContent = project?.name ?? "No project";
  whereBox.replaceChildren(...(project ? [h("span", { class: isOpen(project) ? "dot dot--up" : "dot dot--down" }), h("span", { class: "cut" }, where(project))] : []));
}

export function openProjectMenu(anchor, { projects, current, onChoose, onClose }) {
  const items = projects.map((project) => ({
    label: project.name,
    hint: [where(project), project.server?.is_simulated ? "simulated lab" : ""].filter(Boolean).join(" · "),
    icon: isOpen(project) ? "nodes" : "lock",
    isChosen: project.project_id === current?.project_id,
    act: () => onChoose(project),
  }));
  if (!items.length) items.push({ label: "Look again", icon: "retry", act: () => onChoose(null) });
  if (current && isOpen(current)) items.push("line", { label: "Close this project…", icon: "power", act: onClose });
  openMenu(anchor, "Projects", items);
}
