// The page of documents: collections at the side, one collection's documents beside.

import { Api } from "../chat/api.js";
import { h } from "../chat/dom.js";
import { gettext, interpolate, ngettext } from "../chat/i18n.js";
import { Documents } from "./documents.js";
import { Found } from "./found.js";

const $ = (id) => document.getElementById(id);
const bootstrap = JSON.parse($("bootstrap").textContent);
const api = new Api({ root: bootstrap.root, loginUrl: bootstrap.urls.login });
const state = { collections: [], chosen: new URLSearchParams(location.search).get("collection") };

function showError(error) {
  $("error").textContent = error.message;
  $("error").hidden = false;
}

function clearError() {
  $("error").hidden = true;
}

const found = new Found({ api, section: $("found"), title: $("found-title"), list: $("found-list"), onError: showError });
const documents = new Documents({
  api, box: $("documents"), limit: bootstrap.bytes, news: $("news"), onError: showError,
  onChange({ isGone = false } = {}) {
    if (isGone) state.chosen = null;
    load({ isFresh: isGone }).catch(showError);
  },
});

async function load({ isFresh = false } = {}) {
  state.collections = await api.get("v3/knowledge/collections");
  const chosen = state.collections.find((collection) => collection.id === state.chosen) ?? state.collections[0] ?? null;
  state.chosen = chosen?.id ?? null;
  renderCollections();
  if (isFresh) await documents.show(chosen);
  if (!chosen) {
    $("documents").replaceChildren(h("p", { class: "soft" }, gettext("You have no documents yet. Make a collection, then upload what the copilot should answer from.")));
    $("new").open = true;
  }
}

function scopeWords(collection) {
  const count = collection.documents;
  const whose = { site: gettext("for everybody"), project: collection.project_name, user: gettext("only for you") }[collection.scope];
  return `${interpolate(ngettext("%(count)s document", "%(count)s documents", count), { count })} · ${whose}`;
}

function renderCollections() {
  const focused = document.activeElement?.dataset?.id;
  $("collections").replaceChildren(...state.collections.map((collection) => h("li", {},
    h("button", { class: "know__pick", type: "button", "data-id": collection.id, "aria-current": collection.id === state.chosen ? "true" : null, onclick: () => choose(collection) },
      h("span", { dir: "auto" }, collection.name), h("small", { class: "faint" }, scopeWords(collection))))));
  if (focused) $("collections").querySelector(`[data-id="${focused}"]`)?.focus();
}

function choose(collection) {
  state.chosen = collection.id;
  clearError();
  history.replaceState(null, "", `?${new URLSearchParams({ collection: collection.id })}`);
  renderCollections();
  documents.show(collection).catch(showError);
}

async function offerPlaces() {
  const projects = await api.get("v3/projects");
  const mayWrite = projects.filter((project) => ["engineer", "owner"].includes(project.role));
  $("new-place").replaceChildren(
    h("option", { value: "user" }, gettext("Only I")),
    ...mayWrite.map((project) => h("option", { value: project.project_id }, interpolate(gettext("Members of %(name)s"), { name: project.name }))),
    ...(bootstrap.isStaff ? [h("option", { value: "site" }, gettext("Everybody"))] : []));
}

async function create() {
  const place = $("new-place").value;
  const isProject = place !== "user" && place !== "site";
  const body = { name: $("new-name").value, scope: isProject ? "project" : place, project_id: isProject ? place : null };
  const made = await api.json("POST", "v3/knowledge/collections", { body });
  $("new-name").value = "";
  $("new").open = false;
  state.chosen = made.id;
  await load({ isFresh: true });
  $("documents").querySelector("h2")?.focus();
}

$("new-form").addEventListener("submit", (event) => {
  event.preventDefault();
  clearError();
  create().catch(showError);
});
$("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  clearError();
  const question = $("q").value.trim();
  if (question) found.search(question).catch(showError);
  else found.close();
});
$("found-close").addEventListener("click", () => {
  found.close();
  $("q").focus();
});

async function start() {
  const passage = new URLSearchParams(location.search).get("passage");
  await Promise.all([load({ isFresh: true }), offerPlaces(), ...(passage ? [found.open(passage)] : [])]);
}

start().catch(showError);
