// The conversation list and the lab panel: columns when wide, drawers when not.

const NAMES = ["side", "lab"];

export class Panels {
  #opener = null;

  constructor(app) {
    this.app = app;
    for (const name of NAMES) this.#announce(name);
    new ResizeObserver(() => NAMES.forEach((name) => this.#announce(name))).observe(app);
  }

  #isVisible(name) {
    return getComputedStyle(this.app.querySelector(`.${name}`)).display !== "none";
  }

  isDrawer(name) {
    return getComputedStyle(this.app.querySelector(`.${name}`)).position === "absolute";
  }

  #announce(name) {
    for (const button of this.app.querySelectorAll(`[data-act="${name}"][aria-expanded]`)) button.setAttribute("aria-expanded", String(this.#isVisible(name)));
  }

  toggle(name, opener) {
    if (this.#isVisible(name)) return this.close(name);
    this.app.dataset[name] = "open";
    this.#announce(name);
    this.#opener = opener;
    this.app.querySelector(`.${name}`).querySelector("button, a, input")?.focus({ preventScroll: true });
    return undefined;
  }

  close(name) {
    const hadFocus = this.app.querySelector(`.${name}`).contains(document.activeElement);
    this.app.dataset[name] = "closed";
    this.#announce(name);
    if (hadFocus) this.#opener?.focus();
  }

  // True when a drawer lay over the page and is gone now.
  closeDrawers() {
    const open = NAMES.filter((name) => this.isDrawer(name) && this.#isVisible(name));
    for (const name of open) this.close(name);
    return open.length > 0;
  }
}
