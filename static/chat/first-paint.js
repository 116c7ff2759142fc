// The stored theme, set before the first paint; a classic script in <head>.
(() => {
  try {
    const theme = localStorage.getItem("copilot-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is off in this browser: the system's theme stays.
  }
})();
