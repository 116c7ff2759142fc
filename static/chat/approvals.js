// One decision as a card: what would be done, line by line; approve, edit, reject.
// After the decision it folds to one line and stays as the record.

import { button, h, icon } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { clock } from "./times.js";
import { devicesOf, parseJson, toolLabel } from "./tools.js";

const EFFECTS = { change: "dl dl--add", refused: "dl dl--del", read: "dl" };

// Lines in a text field are one command each; blank ones are nothing.
export const linesOf = (text) => text.split("\n").map((line) => line.trimEnd()).filter((line) => line.trim());

export class ApprovalCard {
  node = h("div", {});
  #approval = null;
  #item = null;
  #isEditing = false;
  #isRejecting = false;
  #error = "";
  #isSent = false;

  // context: {mayDecide(), username(), onAct(name, detail)}
  constructor(context) {
    this.context = context;
  }

  update(item) {
    const wasOpen = this.#approval?.status === "waiting";
    this.#approval = item.approval;
    this.#item = item;
    if (item.approval.status !== "waiting") this.#isEditing = this.#isRejecting = this.#isSent = false;
    // What a person is writing stays while the decision is still theirs.
    if (wasOpen && item.approval.status === "waiting" && (this.#isEditing || this.#isRejecting)) return;
    this.#draw();
  }

  #draw() {
    const approval = this.#approval;
    const isOpen = approval.status === "waiting";
    const id = `approval-${approval.id}`;
    const title = h("h3", { class: "appr__title", id, dir: "auto" }, isOpen ? question(approval) : outcome(approval, this.context.username()));
    const at = isOpen
      ? h("span", { class: "appr__time num" }, interpolate(gettext("expires in %(time)s"), { time: until(approval.expires_at) }))
      : h("span", { class: "faint num" }, clock(approval.decided_at));
    const head = h("header", { class: "appr__head" }, icon(iconOf(approval.status)), title,
      approval.asked_arguments ? h("span", { class: "badge" }, gettext("edited")) : null, at);
    const body = isOpen ? this.#open(approval) : [];
    this.node.replaceChildren(h("section", { class: isOpen ? "appr appr--open" : "appr", "aria-labelledby": id, "data-approval": approval.id }, head, ...body));
  }

  #open(approval) {
    const parts = approval.devices?.length && approval.arguments.devices
      ? approval.devices.map((part, index) => this.#device(part, index))
      : [this.#plain(approval)];
    return [...why(approval), ...parts, this.#foot(approval)];
  }

  #device(part, index) {
    const label = interpolate(gettext("Lines for %(device)s"), { device: part.device });
    const lines = part.commands.map(({ command, effect }) => h("span", { class: EFFECTS[effect] ?? "dl" }, command, effect === "read" ? null : h("span", { class: "sr" }, effect === "refused" ? gettext(" (refused)") : gettext(" (changes something)"))));
    const body = this.#isEditing
      ? h("textarea", { "aria-label": label, spellcheck: "false", "data-device": String(index), rows: String(Math.max(3, lines.length + 1)) })
      : h("code", { class: "diff__body", tabindex: "0", role: "region", "aria-label": label }, h("span", { class: "diff__in" }, ...lines));
    if (this.#isEditing) body.value = part.commands.map(({ command }) => command).join("\n");
    const printed = part.commands.filter(({ origin, effect }) => origin === "output" && effect !== "read");
    return [
      h("figure", { class: "diff" }, h("figcaption", { class: "diff__head" }, h("b", { class: "grow", dir: "auto" }, part.device), part.dialect ? h("span", { class: "badge" }, part.dialect.toUpperCase()) : null), body),
      part.note ? h("p", { class: "appr__why", dir: "auto" }, part.note) : null,
      printed.length ? h("p", { class: "appr__why" }, interpolate(gettext("Also read in the output of a tool, not written by you: %(lines)s"), { lines: printed.map(({ command }) => command).join("; ") })) : null,
      part.before && !this.#isEditing ? h("details", { class: "think appr__before" }, h("summary", {}, gettext("Configuration before"), icon("right", "icon--sm icon--dir tool__chev")), h("code", { class: "diff__body", tabindex: "0", role: "region", "aria-label": interpolate(gettext("Configuration of %(device)s before"), { device: part.device }) }, h("span", { class: "diff__in" }, ...part.before.split("\n").map((line) => h("span", { class: "dl" }, line))))) : null,
    ];
  }

  #plain(approval) {
    const text = JSON.stringify(approval.arguments, null, 2);
    const label = gettext("Arguments");
    const body = this.#isEditing
      ? h("textarea", { "aria-label": label, spellcheck: "false", "data-arguments": "", rows: String(Math.min(16, text.split("\n").length + 1)) })
      : h("code", { class: "diff__body", tabindex: "0", role: "region", "aria-label": label }, h("span", { class: "diff__in" }, ...text.split("\n").map((line) => h("span", { class: "dl" }, line))));
    if (this.#isEditing) body.value = text;
    return h("figure", { class: "diff" }, h("figcaption", { class: "diff__head" }, h("b", { class: "grow" }, toolLabel(approval.tool_name)[1])), body);
  }

  #foot(approval) {
    if (!this.context.mayDecide()) {
      return h("footer", { class: "appr__foot" }, h("p", { class: "soft" }, gettext("Waits for an engineer: your role in this project may not decide.")));
    }
    const acts = this.#isRejecting ? this.#rejection() : this.#isEditing ? this.#edit() : this.#choices();
    return h("footer", { class: "appr__foot" },
      this.#error ? h("p", { class: "field__error", role: "alert" }, icon("alert", "icon--sm"), this.#error) : null,
      ...acts,
      h("p", { class: "appr__who" }, gettext("Whoever decides first, decides. A new message rejects it.")));
  }

  #choices() {
    const isSent = this.#isSent;
    return [h("div", { class: "appr__acts" },
      button("", { class: "btn btn--primary", disabled: isSent, "data-key": "approve", onclick: () => this.#send([{ approval_id: this.#approval.id, decision: "approve" }]) }, icon("check"), gettext("Approve")),
      this.#item.isLastOfBatch ? button("", { disabled: isSent, onclick: () => this.#send(null) }, gettext("Approve all")) : null,
      button("", { disabled: isSent, onclick: () => this.#turn({ isEditing: true }, "textarea") }, icon("edit"), gettext("Edit lines")),
      button("", { class: "btn btn--danger", disabled: isSent, onclick: () => this.#turn({ isRejecting: true }, "input") }, gettext("Reject…")))];
  }

  #edit() {
    return [h("div", { class: "appr__acts" },
      button("", { class: "btn btn--primary", disabled: this.#isSent, onclick: () => this.#sendEdited() }, icon("check"), gettext("Approve as edited")),
      button("", { class: "btn btn--quiet", disabled: this.#isSent, onclick: () => this.#turn({}, "[data-key=approve]") }, gettext("Discard edit")))];
  }

  #rejection() {
    const id = `reason-${this.#approval.id}`;
    const field = h("input", { class: "input", id, dir: "auto", maxlength: "2000", autocomplete: "off" });
    const reject = (event) => {
      event.preventDefault();
      this.#send([{ approval_id: this.#approval.id, decision: "reject", reason: field.value.trim() }]);
    };
    return [h("form", { class: "stack", onsubmit: reject },
      h("div", { class: "field" }, h("label", { for: id }, gettext("Reason, told to the copilot (optional)")), field),
      h("div", { class: "appr__acts" },
        h("button", { type: "submit", class: "btn btn--danger", disabled: this.#isSent }, gettext("Reject")),
        button("", { class: "btn btn--quiet", onclick: () => this.#turn({}, "[data-key=approve]") }, gettext("Back"))))];
  }

  #turn({ isEditing = false, isRejecting = false }, focus) {
    this.#error = "";
    this.#isEditing = isEditing;
    this.#isRejecting = isRejecting;
    this.#draw();
    this.node.querySelector(focus)?.focus();
  }

  #sendEdited() {
    const edited = structuredClone(this.#approval.arguments);
    const whole = this.node.querySelector("[data-arguments]");
    if (whole) {
      const parsed = parseJson(whole.value);
      if (!parsed || Array.isArray(parsed)) return this.#fail(gettext("This is not a JSON object."));
      return this.#send([{ approval_id: this.#approval.id, decision: "approve", arguments: parsed }]);
    }
    for (const field of this.node.querySelectorAll("[data-device]")) edited.devices[Number(field.dataset.device)].commands = linesOf(field.value);
    return this.#send([{ approval_id: this.#approval.id, decision: "approve", arguments: edited }]);
  }

  // null: all that wait in this round.
  async #send(decisions) {
    const drafts = [...this.node.querySelectorAll("textarea, input")].map((field) => field.value);
    this.#error = "";
    this.#isSent = true;
    this.node.querySelectorAll("button").forEach((each) => each.setAttribute("disabled", ""));
    try {
      await this.context.onAct("decide", { round: this.#item.round, decisions });
    } catch (error) {
      this.#isSent = false;
      this.#fail(error.message, drafts);
    }
  }

  #fail(text, drafts = [...this.node.querySelectorAll("textarea, input")].map((field) => field.value)) {
    if (this.#approval.status !== "waiting") return;
    this.#error = text;
    this.#draw();
    this.node.querySelectorAll("textarea, input").forEach((field, index) => {
      field.value = drafts[index] ?? field.value;
    });
  }
}

function until(iso) {
  const minutes = Math.max(0, Math.round((Date.parse(iso) - Date.now()) / 60_000));
  if (minutes < 90) return interpolate(gettext("%(minutes)s min"), { minutes });
  return interpolate(gettext("%(hours)s h"), { hours: Math.round(minutes / 60) });
}

function question(approval) {
  const devices = devicesOf({ args: JSON.stringify(approval.arguments) });
  if (approval.tool_name === "run_commands" && devices.length) return interpolate(gettext("Change %(devices)s?"), { devices: devices.join(", ") });
  return interpolate(gettext("%(deed)s?"), { deed: approval.summary || toolLabel(approval.tool_name)[1] });
}

function why(approval) {
  return [
    h("p", { class: "appr__why" }, gettext("Nothing has been changed yet. This is exactly what would be sent. If someone changes it first, you are asked again.")),
    ...(approval.notes ?? []).map((note) => h("p", { class: "appr__why appr__note", dir: "auto" }, note)),
    approval.question ? h("p", { class: "appr__why faint", dir: "auto" }, interpolate(gettext("Proposed by the copilot in answer to “%(question)s”"), { question: approval.question })) : null,
  ];
}

const ICONS = { waiting: "hand", approved: "check", rejected: "x", expired: "clock", cancelled: "stop" };
const iconOf = (status) => ICONS[status] ?? "hand";

function outcome(approval, username) {
  const summary = approval.summary || toolLabel(approval.tool_name)[1];
  const values = { who: approval.decided_by, summary, reason: approval.reason };
  const isMine = approval.decided_by === username;
  if (approval.status === "approved") return interpolate(isMine ? gettext("You approved: %(summary)s") : gettext("%(who)s approved: %(summary)s"), values);
  if (approval.status === "rejected") {
    const told = isMine ? gettext("You rejected: %(summary)s") : gettext("%(who)s rejected: %(summary)s");
    return interpolate(told, values) + (approval.reason ? ` (“${approval.reason}”)` : "");
  }
  if (approval.status === "expired") return interpolate(gettext("No longer valid. Nothing was changed. %(reason)s"), values).trim();
  return gettext("Not decided. Nothing was changed.");
}
