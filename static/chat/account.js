// The menu of the person: theme, language, settings, sign out.

import { gettext, language } from "./i18n.js";
import { openMenu } from "./menu.js";
import { currentTheme, setTheme } from "./theme.js";

const THEMES = [["system", gettext("As the system"), "screen"], ["light", gettext("Light"), "sun"], ["dark", gettext("Dark"), "moon"]];

export function openAccountMenu(anchor, { me, urls, languages, onLanguage, onSignOut }) {
  openMenu(anchor, gettext("Theme and account"), [
    { group: gettext("Theme") },
    ...THEMES.map(([value, label, icon]) => ({ label, icon, isChosen: currentTheme() === value, act: () => setTheme(value) })),
    "line",
    { group: gettext("Language") },
    ...languages.map(({ code, name }) => ({ label: name, lang: code, isChosen: code === language, act: () => onLanguage(code) })),
    "line",
    { label: gettext("Settings"), hint: gettext("models, language, memory"), icon: "chip", act: () => location.assign(urls.settings) },
    { label: gettext("Directory"), hint: gettext("courses, people, rooms"), icon: "list", act: () => location.assign(urls.directory) },
    { label: gettext("Documents"), hint: gettext("what answers may cite"), icon: "doc", act: () => location.assign(urls.knowledge) },
    { label: gettext("Memory"), hint: gettext("what is kept for you"), icon: "edit", act: () => location.assign(urls.memory) },
    ...(me?.is_staff ? [{ label: gettext("Settings and audit"), hint: gettext("the admin"), icon: "sliders", act: () => location.assign(urls.admin) }] : []),
    ...(me && !me.web_search ? [{ group: gettext("Web search is off: no provider is set up") }] : []),
    { label: gettext("Sign out"), hint: me?.username, icon: "out", act: onSignOut },
  ]);
}
