// The menu of the person: theme, settings, sign out.

import { openMenu } from "./menu.js";
import { currentTheme, setTheme } from "./theme.js";

const THEMES = [["system", "As the system", "screen"], ["light", "Light", "sun"], ["dark", "Dark", "moon"]];

export function openAccountMenu(anchor, { me, urls, onSignOut }) {
  openMenu(anchor, "Theme and account", [
    { group: "Theme" },
    ...THEMES.map(([value, label, icon]) => ({ label, icon, isChosen: currentTheme() === value, act: () => setTheme(value) })),
    "line",
    ...(me?.is_staff ? [{ label: "Settings and audit", hint: "the admin", icon: "sliders", act: () => location.assign(urls.admin) }] : []),
    { label: "Sign out", hint: me?.username, icon: "out", act: onSignOut },
  ]);
}
