// The page: which project and conversation is shown, and who hears of what.

import { openAccountMenu } from "./account.js";
import { Api } from "./api.js";
import { Attachments } from "./attachments.js";
import { Composer } from "./composer.js";
import { openPassage } from "./citations.js";
import { Conversation } from "./conversation.js";
import { confirmDeed, toast } from "./dialogs.js";
import { button, copyText, h } from "./dom.js";
import { sendComment, sendVerdict } from "./feedback.js";
import { gettext, interpolate } from "./i18n.js";
import { LabPanel } from "./lab.js";
import { LiveLine } from "./live.js";
import { isMenuOpen } from "./menu.js";
import { closedNote, loadFailed, noProjects, problemNote } from "./notices.js";
import { Panels } from "./panels.js";
import { Parameters } from "./parameters.js";
import { profileBadge, Profiles } from "./profiles.js";
import { isOpen, offlineBadge, openProjectMenu, showProject, simulatedBadge } from "./projects.js";
import { withVerdict } from "./reduce.js";
import { Thread } from "./render.js";
import { StickyScroll } from "./scroll.js";
import { SessionList } from "./sessions.js";
import { Strip } from "./strip.js";
import { copyOf } from "./terminal.js";
import { CHANGES_TOPOLOGY } from "./tools.js";
import { Welcome } from "./welcome.js";

const $ = (id) => document.getElementById(id);
const bootstrap = JSON.parse($("bootstrap").textContent);
const api = new Api({ root: bootstrap.root, loginUrl: bootstrap.urls.login });
const panels = new Panels($("app"));
const scroll = new StickyScroll($("thread"), $("jump"));
const live = new LiveLine($("live"));
const strip = new Strip($("strip"), () => state.conversation?.reconnect());

const parameters = new Parameters($("parameters"));
const profiles = new Profiles();
const welcome = new Welcome({
  onAsk: (text) => send(text),
  onProfile: (profile) => chooseProfile(profile),
});

const state = { me: null, projects: [], project: null, conversation: null, error: null, isOpening: false, chosenProfile: null };

const context = {
  prompt(device) {
    const type = lab.nodeByName(device)?.node_type;
    return `${device}${!type || type === "vpcs" ? ">" : "#"}`;
  },
  url: (path) => api.url(path),
  isSimulated: () => Boolean(state.project?.server?.is_simulated),
  isOffline: (model) => Boolean(state.me?.llm?.is_offline) && (!model || model === state.me.llm.model),
  onAct: (name, detail) => acts[name]?.(detail),
  documentUrl: (id) => api.url(`${state.conversation.path}/documents/${id}/content`),
  username: () => state.me?.username,
  mayDecide: () => ["engineer", "owner"].includes(state.project?.role),
};
const thread = new Thread($("column"), context);
const composer = new Composer({
  form: $("composer"), field: $("message"), sendButton: $("send"), stopButton: $("stop"),
  onSend: (text) => send(text),
  onStop: () => state.conversation?.stop(),
});
const attachments = new Attachments({
  api, box: $("files"), area: $("composer"), button: $("attach"), limit: bootstrap.bytes, news: $("file-news"),
  onChange: () => schedule(),
});
const sessions = new SessionList({
  api, list: $("sessions"), search: $("search"),
  handlers: {
    address: (id) => address(state.project, id),
    onChanged(id, values) {
      if (id !== state.conversation?.sessionId) return;
      if (values.title) state.conversation.view = { ...state.conversation.view, title: values.title };
      schedule();
    },
    onDeleted(id) {
      if (id === state.conversation?.sessionId) showSession(null);
    },
  },
});
const lab = new LabPanel({
  api, box: $("topology"), frame: $("drawing"), deviceBox: $("device"),
  // Prompts of terminals depend on the kind of device, known only now.
  onFirstLoad() {
    if (state.conversation?.view.rounds.length) thread.clear();
  },
  onChange: () => schedule(),
  onAsk(name) {
    panels.closeDrawers();
    composer.put(`${composer.text.trim()} ${interpolate(gettext("What is the state of %(name)s?"), { name })}`.trim());
  },
});

// --- What is shown -----------------------------------------------------------

const address = (project, sessionId) => `?${new URLSearchParams({ project: project.project_id, ...(sessionId ? { session: sessionId } : {}) })}`;

async function start() {
  try {
    [state.me, state.projects] = await Promise.all([api.get("v3/me"), api.get("v3/projects"), profiles.load(api)]);
  } catch (error) {
    thread.clear(loadFailed(error.status === 404 ? new Error(error.message) : error, { again: start }));
    return;
  }
  const name = state.me.display_name || state.me.username;
  $("person").textContent = name;
  $("avatar").textContent = name.split(/\s+/).map((word) => word[0]).join("").slice(0, 2).toUpperCase();
  const query = new URLSearchParams(location.search);
  const wanted = state.projects.find((project) => project.project_id === query.get("project"));
  await showProjectOf(wanted ?? state.projects.find(isOpen) ?? state.projects[0] ?? null, wanted ? query.get("session") : null);
}

async function showProjectOf(project, sessionId = null) {
  state.project = project;
  lab.clear();
  if (!project) {
    state.conversation?.hide();
    state.conversation = null;
    $("sessions").replaceChildren();
    return schedule();
  }
  showSession(sessionId, { isFirst: true });
  await Promise.all([sessions.open(project.project_id), lab.load(project)]);
  return undefined;
}

function showSession(sessionId, { isFirst = false, keepAddress = false } = {}) {
  state.conversation?.hide();
  strip.reset();
  state.error = null;
  state.chosenProfile = null;
  const conversation = new Conversation({ api, projectId: state.project.project_id, sessionId, onChange, onCreated });
  state.conversation = conversation;
  sessions.choose(sessionId);
  thread.clear();
  scroll.toEnd();
  composer.show(state.project.project_id, sessionId);
  attachments.show(conversation);
  if (!keepAddress) history[isFirst ? "replaceState" : "pushState"](null, "", address(state.project, sessionId));
  panels.closeDrawers();
  schedule();
  conversation.show().catch((error) => {
    if (state.conversation !== conversation) return;
    state.error = error;
    schedule();
  });
  focusField();
}

// Not on touch screens: the keyboard would cover the page.
function focusField() {
  if (matchMedia("(pointer: fine)").matches) $("message").focus();
}

function onCreated(conversation) {
  sessions.load();
  if (conversation !== state.conversation) return;
  composer.moveTo(conversation.sessionId);
  sessions.choose(conversation.sessionId);
  history.replaceState(null, "", address(state.project, conversation.sessionId));
}

function onChange(conversation, event = null) {
  if (event?.type === "title") sessions.update(conversation.sessionId, { title: event.title });
  if (["done", "approval_required", "approval_resolved"].includes(event?.type)) sessions.load();
  if (conversation !== state.conversation) return;
  if (event?.type === "done" || (event?.type === "tool_end" && CHANGES_TOPOLOGY.has(event.tool_name))) lab.load(state.project);
  if (event?.type === "attempt") sessions.load();
  if (event?.type === "message") attachments.sent(event.message.metadata?.documents);
  strip.update(conversation.connection);
  if (conversation.connection.state === "denied" && conversation.connection.code === 4401) api.signIn();
  if (conversation.problem?.question && !composer.text) {
    composer.put(conversation.problem.question);
  }
  schedule();
}

async function setProjectOpen(isOpened) {
  state.isOpening = true;
  schedule();
  try {
    const project = await api.json("POST", `v3/projects/${state.project.project_id}/${isOpened ? "open" : "close"}`, { body: {}, timeout: 120_000 });
    state.projects = state.projects.map((other) => (other.project_id === project.project_id ? { ...other, ...project } : other));
    state.project = { ...state.project, ...project };
    if (state.conversation) state.conversation.problem = null;
    await lab.load(state.project);
  } catch (error) {
    toast(error.message, true);
  } finally {
    state.isOpening = false;
    schedule();
  }
}

function send(text, options) {
  if (!state.project || !text?.trim()) return;
  scroll.toEnd();
  const wanted = { ...parameters.values, ...(state.chosenProfile ? { profile: state.chosenProfile.name } : {}) };
  state.conversation.send(text.trim(), { ...options, wanted });
}

// The one that the next message asks for: else the session's last, else the site's.
function currentProfile() {
  const session = sessions.find(state.conversation?.sessionId);
  return state.chosenProfile ?? profiles.find(session?.profile) ?? profiles.default;
}

function chooseProfile(profile) {
  state.chosenProfile = profile;
  schedule();
}

// Drafts are kept: the page may be loaded anew.
async function chooseLanguage(language) {
  try {
    await api.json("PATCH", "v3/me/preferences", { body: { language } });
    location.reload();
  } catch (error) {
    toast(error.message, true);
  }
}

// --- Rendering: one pass a frame ---------------------------------------------

let isScheduled = false;

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    render();
  });
}

function render() {
  const { project, conversation } = state;
  showProject(project, $("project-name"), $("project-where"));
  $("labels").replaceChildren(...(context.isSimulated() ? [simulatedBadge()] : []), ...(state.me?.llm?.is_offline ? [offlineBadge()] : []));
  $("model").textContent = modelWords(state.me);
  renderProfile(conversation);
  const session = sessions.find(conversation?.sessionId);
  const title = conversation?.view.title || session?.title || gettext("New conversation");
  $("title").textContent = title;
  document.title = [title, project?.name, "Copilot"].filter(Boolean).join(" · ");
  $("pin").hidden = $("more").hidden = !session;
  $("pin").setAttribute("aria-pressed", String(Boolean(session?.pinned)));
  renderThread();
  const active = conversation?.active ?? null;
  const wasDisabled = $("message").disabled;
  composer.update({
    isActive: Boolean(active), isStopping: active?.status === "stopping",
    isWaiting: active?.status === "waiting_approval",
    isBusy: conversation?.outbox?.state === "sending" || attachments.isSending, isClosed: !project || !isOpen(project),
  });
  if (wasDisabled && document.activeElement === document.body) focusField();
  live.update(active);
  lab.render(project, conversation);
}

function renderProfile(conversation) {
  const profile = currentProfile();
  $("profile").hidden = profiles.list.length < 2;
  $("profile-name").textContent = profile?.title ?? "";
  if (conversation?.sessionId && profile && !profile.is_default) $("labels").prepend(profileBadge(profile));
}

function modelWords(me) {
  if (!me) return "";
  if (me.llm?.is_offline) return gettext("Offline model: rules, no language model");
  return me.llm?.model || gettext("No model is set up");
}

function renderThread() {
  const { project, conversation } = state;
  const isClosed = project && !isOpen(project);
  $("notice").replaceChildren(
    ...(isClosed ? [closedNote(project, state.isOpening, () => setProjectOpen(true))] : []),
    ...(conversation?.problem && !isClosed ? [problemNote(conversation.problem, { onAct: context.onAct })] : []));
  if (!project) return state.me ? thread.clear(noProjects(start)) : undefined;
  if (state.error) return thread.clear(loadFailed(state.error, { again: () => showSession(conversation.sessionId, { keepAddress: true }), fresh: () => showSession(null) }));
  if (!conversation.isLoaded) return undefined;
  if (!conversation.view.rounds.length && !conversation.outbox) return isClosed ? thread.clear() : renderWelcome();
  thread.render(conversation.view, conversation.outbox);
  renderEarlier(conversation);
  scroll.settle();
  return undefined;
}

function renderWelcome() {
  const node = welcome.show({ profiles: profiles.list, profile: currentProfile(), topology: lab.topology, isSimulated: context.isSimulated() });
  if ($("column").firstChild !== node) thread.clear(node);
}

function renderEarlier(conversation) {
  const existing = document.querySelector("#earlier");
  if (!conversation.hasEarlier) return existing?.remove();
  if (!existing) $("thread").prepend(h("p", { class: "earlier", id: "earlier" }, button(gettext("Show earlier"), { class: "btn btn--quiet btn--sm", onclick: () => conversation.loadEarlier().catch((error) => toast(error.message, true)) })));
  return undefined;
}

// --- Acts ----------------------------------------------------------------------

const acts = {
  side: (opener) => panels.toggle("side", opener),
  lab: (opener) => panels.toggle("lab", opener),
  close: () => panels.closeDrawers(),
  new() {
    if (!state.project) return;
    showSession(null);
    $("message").focus();
  },
  search(opener) {
    panels.toggle("side", opener);
    $("search").focus();
  },
  account: (opener) => openAccountMenu(opener, { me: state.me, urls: bootstrap.urls, languages: bootstrap.languages, onLanguage: chooseLanguage, onSignOut: () => $("logout").submit() }),
  settings: () => location.assign(bootstrap.urls.settings),
  "open-project": () => setProjectOpen(true),
  ask: (text) => send(text),
  decide: ({ round, decisions }) => state.conversation.decide(round, decisions),
  resend: () => state.conversation.resend(),
  "take-back": () => composer.put(state.conversation.takeBack()),
  queue() {
    const text = composer.text;
    composer.put("");
    send(text, { queue: true });
  },
  async rate({ id, value }) {
    const { conversation, project } = state;
    try {
      const verdict = await sendVerdict(api, project.project_id, { id, value });
      conversation.view = withVerdict(conversation.view, id, verdict);
      schedule();
      if (verdict === "down" && (await sendComment(api, project.project_id, id))) toast(gettext("Thank you"));
    } catch (error) {
      toast(error.message, true);
    }
  },
  copy: (text) => copyText(text).then(() => toast(gettext("Copied"))),
  "copy-code": (opener) => acts.copy(opener.closest(".code").querySelector("pre").textContent),
  "copy-term": (opener) => acts.copy(copyOf(opener.closest(".term"))),
  wrap: (opener) => opener.setAttribute("aria-pressed", String(opener.closest(".term").classList.toggle("term--wrap"))),
};

// The citation with this number, of the answer in which the button stands.
function openCitation(opener) {
  const found = thread.citationsAt(opener).find((citation) => citation.n === Number(opener.dataset.cite));
  if (found) openPassage(opener, found, context);
}

document.addEventListener("click", (event) => {
  const citing = event.target.closest("[data-cite]");
  if (citing) return void openCitation(citing);
  const opener = event.target.closest("[data-act]");
  if (opener) return void acts[opener.dataset.act]?.(opener);
  const zoomer = event.target.closest("[data-zoom]");
  if (zoomer) return void lab.zoom(zoomer.dataset.zoom);
  const row = event.target.closest("[data-session]");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  event.preventDefault();
  showSession(row.dataset.session);
  return undefined;
});
$("project").addEventListener("click", (event) => openProjectMenu(event.currentTarget, {
  projects: state.projects, current: state.project,
  onChoose: (project) => (project ? showProjectOf(project) : start()),
  async onClose() {
    if (await confirmDeed(gettext("Close this project?"), gettext("Its devices stop, also for everyone else who works in it."), gettext("Close project"))) setProjectOpen(false);
  },
}));
$("profile").addEventListener("click", (event) => profiles.openMenu(event.currentTarget, currentProfile(), chooseProfile));
$("title").addEventListener("click", () => withSession((session) => sessions.rename(session)));
$("pin").addEventListener("click", () => withSession((session) => sessions.pin(session)));
$("more").addEventListener("click", (event) => withSession((session) => sessions.menu(event.currentTarget, session)));

function withSession(act) {
  const session = sessions.find(state.conversation?.sessionId);
  if (session) act(session);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || isMenuOpen() || document.querySelector("dialog[open]")) return;
  if (panels.closeDrawers()) return;
  state.conversation?.stop();
});
addEventListener("popstate", () => {
  const query = new URLSearchParams(location.search);
  const project = state.projects.find((candidate) => candidate.project_id === query.get("project"));
  if (project && project !== state.project) showProjectOf(project, query.get("session"));
  else if (project) showSession(query.get("session"), { keepAddress: true });
});
addEventListener("online", () => state.conversation?.reconnect());
setInterval(() => {
  if (!document.hidden && state.project && sessions.hasRunning) sessions.load();
}, 4000);
setInterval(() => {
  if (!document.hidden && state.project) lab.load(state.project);
}, 20_000);

start();
