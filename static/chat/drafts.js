// Unsent text per session, kept in this tab's storage.

const key = (projectId, sessionId) => `draft:${projectId}:${sessionId ?? "new"}`;

export function loadDraft(projectId, sessionId) {
  try {
    return sessionStorage.getItem(key(projectId, sessionId)) ?? "";
  } catch {
    return "";
  }
}

export function saveDraft(projectId, sessionId, text) {
  try {
    if (text) sessionStorage.setItem(key(projectId, sessionId), text);
    else sessionStorage.removeItem(key(projectId, sessionId));
  } catch {
    // Storage is off or full: the text stays in the field only.
  }
}
