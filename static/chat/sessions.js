// The list of conversations: pinned, today, earlier; search; rename, pin, delete.

import { askText, confirmDeed, toast } from "./dialogs.js";
import { button, h, icon, spinner } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { openMenu } from "./menu.js";
import { daysAgo, shortDay } from "./times.js";

const PAGE_SIZE = 50;
const TITLE_LIMIT = 255;

export class SessionList {
  sessions = [];
  currentId = null;
  #query = "";
  #total = PAGE_SIZE;
  #hasMore = false;
  #unread = new Set();
  #loading = 0;

  // handlers: {address(id), onChanged(session), onDeleted(id)}
  constructor({ api, list, search, handlers }) {
    Object.assign(this, { api, list, handlers });
    let timer = null;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.#query = search.value.trim();
        this.load();
      }, 200);
    });
  }

  async open(projectId) {
    this.projectId = projectId;
    this.sessions = [];
    this.#total = PAGE_SIZE;
    const skeleton = setTimeout(() => this.list.replaceChildren(skeletons()), 300);
    await this.load();
    clearTimeout(skeleton);
  }

  async load() {
    const turn = (this.#loading += 1);
    const query = this.#query ? `&q=${encodeURIComponent(this.#query)}` : "";
    let sessions;
    try {
      sessions = await this.api.get(`${this.#path}?limit=${this.#total}&offset=0${query}`);
    } catch (error) {
      if (turn === this.#loading) this.list.replaceChildren(h("p", { class: "side__none" }, error.message, " ", button(gettext("Retry"), { class: "btn btn--sm", onclick: () => this.load() })));
      return;
    }
    if (turn !== this.#loading) return;
    // A session's public name is its thread_id; the page knows no other.
    sessions = sessions.map((session) => ({ ...session, id: session.thread_id }));
    this.#noteFinished(sessions);
    this.#hasMore = sessions.length === this.#total;
    this.sessions = sessions;
    this.render();
  }

  // A run that ended while its conversation was not open leaves an unread answer.
  #noteFinished(fresh) {
    const wasRunning = new Set(this.sessions.filter((session) => session.active_run).map((session) => session.id));
    for (const session of fresh) {
      if (wasRunning.has(session.id) && !session.active_run && session.id !== this.currentId) this.#unread.add(session.id);
    }
  }

  get #path() {
    return `v3/projects/${this.projectId}/chat/sessions`;
  }

  get hasRunning() {
    return this.sessions.some((session) => session.active_run);
  }

  find(id) {
    return this.sessions.find((session) => session.id === id) ?? null;
  }

  choose(id) {
    this.currentId = id;
    this.#unread.delete(id);
    this.render();
  }

  update(id, change) {
    this.sessions = this.sessions.map((session) => (session.id === id ? { ...session, ...change } : session));
    this.render();
  }

  render() {
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const pinned = this.sessions.filter((session) => session.pinned);
    const others = this.sessions.filter((session) => !session.pinned);
    const isToday = (session) => daysAgo(session.last_message_at ?? session.created_at) <= 0;
    const groups = this.#query
      ? [[interpolate(gettext("Search: “%(words)s”"), { words: this.#query }), this.sessions]]
      : [[gettext("Pinned"), pinned], [gettext("Today"), others.filter(isToday)], [gettext("Earlier"), others.filter((session) => !isToday(session))]];
    const nodes = groups.filter(([, sessions]) => sessions.length).flatMap(([name, sessions]) => [h("h2", { class: "side__group", dir: "auto" }, name), h("ul", {}, ...sessions.map((session) => this.#row(session)))]);
    if (!nodes.length && this.#query) nodes.push(h("h2", { class: "side__group", dir: "auto" }, groups[0][0]), h("p", { class: "side__none" }, gettext("Nothing in titles or messages.")));
    else if (!nodes.length) nodes.push(h("h2", { class: "side__group" }, gettext("Today")), h("p", { class: "side__none" }, gettext("No conversations yet. The first question makes one.")));
    if (this.#hasMore) nodes.push(button(gettext("Show more"), { class: "btn btn--quiet btn--sm", onclick: () => this.#more() }));
    this.list.replaceChildren(...nodes);
    if (focused) this.list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #more() {
    this.#total += PAGE_SIZE;
    this.load();
  }

  #row(session) {
    const isUnread = this.#unread.has(session.id);
    const title = titleOf(session);
    const waits = session.active_run?.status === "waiting_approval";
    const state = waits ? h("span", { class: "badge badge--wait" }, icon("hand", "icon--sm"), gettext("decide")) : session.active_run ? spinner(gettext("running")) : isUnread ? h("span", { class: "dot", role: "img", "aria-label": gettext("unread") }) : h("span", { class: "sess__time num" }, shortDay(session.last_message_at ?? session.created_at));
    return h("li", {},
      h("a", { class: `sess${isUnread ? " is-unread" : ""}`, href: this.handlers.address(session.id), "data-session": session.id, "data-key": `open-${session.id}`, "aria-current": session.id === this.currentId ? "page" : null, title },
        h("span", { class: "sess__title", dir: "auto" }, title), state),
      h("button", { class: "iconbtn iconbtn--sm", type: "button", "aria-label": interpolate(gettext("Menu of %(name)s"), { name: title }), "aria-haspopup": "menu", "data-key": `menu-${session.id}`, onclick: (event) => this.menu(event.currentTarget, session) }, icon("more", "icon--sm")));
  }

  menu(anchor, session) {
    openMenu(anchor, interpolate(gettext("Menu of %(name)s"), { name: titleOf(session) }), [
      { label: gettext("Rename"), icon: "edit", act: () => this.rename(session) },
      { label: session.pinned ? gettext("Unpin") : gettext("Pin"), icon: "pin", act: () => this.pin(session) },
      "line",
      { label: gettext("Delete…"), icon: "trash", isDanger: true, act: () => this.remove(session) },
    ]);
  }

  async rename(session) {
    const title = await askText(gettext("Rename conversation"), gettext("Title"), session.title ?? "", TITLE_LIMIT);
    if (!title || title === session.title) return;
    await this.#change(session.id, { title }, () => this.api.json("PATCH", `${this.#path}/${session.id}`, { body: { title } }));
  }

  async pin(session) {
    const pinned = !session.pinned;
    await this.#change(session.id, { pinned }, () => this.api.json(pinned ? "PUT" : "DELETE", `${this.#path}/${session.id}/pin`));
  }

  async #change(id, values, call) {
    try {
      await call();
    } catch (error) {
      toast(error.message, true);
      return;
    }
    this.update(id, values);
    this.handlers.onChanged(id, values);
  }

  async remove(session) {
    const isSure = await confirmDeed(
      gettext("Delete this conversation?"),
      interpolate(gettext("“%(name)s” and its answers are removed. This can't be undone."), { name: titleOf(session) }), gettext("Delete"));
    if (!isSure) return;
    try {
      await this.api.json("DELETE", `${this.#path}/${session.id}`);
    } catch (error) {
      if (error.status !== 404) return void toast(error.message, true);
    }
    this.sessions = this.sessions.filter((other) => other.id !== session.id);
    this.render();
    this.handlers.onDeleted(session.id);
    toast(gettext("Conversation deleted"));
  }
}

const titleOf = (session) => session.title || gettext("New conversation");

function skeletons() {
  return h("div", { class: "stack side__none", "aria-busy": "true" }, ...["skel skel--70", "skel", "skel skel--50", "skel skel--70"].map((name) => h("span", { class: name })));
}
