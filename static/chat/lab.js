// The lab panel: the drawing, the chosen device, and where the copilot works now.

import { deviceCard } from "./device.js";
import { h } from "./dom.js";
import { gettext } from "./i18n.js";
import { isOpen } from "./projects.js";
import { TopologyPanel } from "./topology.js";
import { devicesOf } from "./tools.js";

const hint = (text) => h("p", { class: "lab__none soft" }, text);

export class LabPanel {
  #error = null;

  constructor({ api, box, frame, deviceBox, onFirstLoad, onChange, onAsk }) {
    Object.assign(this, { box, deviceBox, onFirstLoad, onChange, onAsk });
    this.drawing = new TopologyPanel({ api, frame, onSelect: onChange });
  }

  get topology() {
    return this.drawing.topology;
  }

  nodeByName(name) {
    return this.drawing.nodeByName(name);
  }

  zoom(direction) {
    this.drawing.zoom(direction);
  }

  clear() {
    this.#error = null;
    this.drawing.clear();
    this.onChange();
  }

  async load(project) {
    const isFirst = this.topology === null;
    this.#error = await this.drawing.load(project.project_id);
    if (isFirst && this.topology) this.onFirstLoad();
    this.onChange();
  }

  render(project, conversation) {
    const working = workingDevices(conversation?.active);
    this.box.hidden = !this.topology;
    this.drawing.highlight(working);
    const node = this.topology?.nodes.find((candidate) => candidate.node_id === this.drawing.selectedId);
    const content = node ? this.#card(node, project, conversation, working) : this.#none(project);
    if (!content) this.deviceBox.replaceChildren();
    else if (!this.deviceBox.firstChild?.isEqualNode(content)) this.deviceBox.replaceChildren(content);
  }

  #card(node, project, conversation, working) {
    return deviceCard({
      node, topology: this.topology, view: conversation?.view ?? { rounds: [] },
      isWorking: working.has(node.name), canAsk: isOpen(project), onAsk: this.onAsk,
      onClose: () => this.drawing.select(null),
    });
  }

  #none(project) {
    if (this.topology) return hint(this.topology.nodes.length ? gettext("Choose a device to see its ports and what was run on it.") : gettext("This project has no devices yet."));
    if (!project || !this.#error) return null;
    return hint(isOpen(project) ? this.#error.message : gettext("Open the project to see its topology."));
  }
}

function workingDevices(round) {
  const running = (round?.items ?? []).filter((item) => item.kind === "tool" && item.phase === "running");
  return new Set(running.flatMap(devicesOf));
}
