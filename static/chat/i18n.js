/** Texts of the interface in the person's language; English where none is loaded. */

/** @param {string} text in English @returns {string} */
export function gettext(text) {
  return globalThis.django?.gettext?.(text) ?? text;
}

/** @param {string} one @param {string} many @param {number} count @returns {string} */
export function ngettext(one, many, count) {
  return globalThis.django?.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
}

/** Of the page: what numbers, dates and times follow. */
export const language = globalThis.document?.documentElement.lang || "en";

/** Fills `%(name)s` places. @param {string} text @param {Record<string, unknown>} values */
export function interpolate(text, values) {
  return text.replace(/%\((\w+)\)s/g, (whole, name) =>
    name in values ? String(values[name]) : whole);
}
