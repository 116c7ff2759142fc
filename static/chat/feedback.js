// A person's verdict on an answer: two buttons, and words where it was bad.

import { askText } from "./dialogs.js";
import { iconButton } from "./dom.js";
import { gettext } from "./i18n.js";

const COMMENT_LENGTH = 2000;

export function verdictButtons(answer, context) {
  const rate = (value) => context.onAct("rate", { id: answer.id, value: answer.verdict === value ? null : value });
  return [
    iconButton("up-thumb", gettext("Good answer"), { "aria-pressed": String(answer.verdict === "up"), onclick: () => rate("up") }),
    iconButton("down-thumb", gettext("Bad answer"), { "aria-pressed": String(answer.verdict === "down"), onclick: () => rate("down") }),
  ];
}

/** The verdict that the server has now: "up", "down" or null. */
export async function sendVerdict(api, projectId, { id, value }) {
  const path = `v3/projects/${projectId}/chat/messages/${id}/feedback`;
  if (value === null) {
    await api.json("DELETE", path);
    return null;
  }
  await api.json("POST", path, { body: { value } });
  return value;
}

export async function sendComment(api, projectId, id) {
  const comment = await askText(gettext("Thank you. What was wrong?"), gettext("The operators of this server read it"), "", COMMENT_LENGTH);
  if (!comment) return false;
  await api.json("POST", `v3/projects/${projectId}/chat/messages/${id}/feedback`, { body: { value: "down", comment } });
  return true;
}
