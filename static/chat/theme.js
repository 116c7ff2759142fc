// Light, dark or the system's; remembered in this browser.

const KEY = "copilot-theme";

export function currentTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

export function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is off: the choice lasts until the page is left.
  }
}
