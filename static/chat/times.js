// Times and numbers as people read them, in the page's language and the viewer's
// zone; input is ISO 8601 with offset.

import { gettext, interpolate, language } from "./i18n.js";

// English as Europe writes it: 14:05, 3 May.
const LOCALE = language === "en" ? "en-GB" : language;
const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const CLOCK_SECONDS = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat(LOCALE, { weekday: "short" });
const DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const LONG_DAY = new Intl.DateTimeFormat(LOCALE, { weekday: "long", day: "numeric", month: "long" });

const isValid = (iso) => Boolean(iso) && !Number.isNaN(Date.parse(iso));
const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
export const daysAgo = (iso) => Math.round((midnight(new Date()) - midnight(new Date(iso))) / 86_400_000);

export const clock = (iso, withSeconds = false) => (isValid(iso) ? (withSeconds ? CLOCK_SECONDS : CLOCK).format(new Date(iso)) : "");

export function shortDay(iso) {
  if (!isValid(iso)) return "";
  const days = daysAgo(iso);
  if (days <= 0) return clock(iso);
  return (days < 7 ? WEEKDAY : DAY).format(new Date(iso));
}

export function longDay(iso) {
  if (!isValid(iso)) return "";
  const days = daysAgo(iso);
  if (days === 0) return gettext("Today");
  return days === 1 ? gettext("Yesterday") : LONG_DAY.format(new Date(iso));
}

export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 10_000) return interpolate(gettext("%(seconds)s s"), { seconds: decimal(ms / 1000) });
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return interpolate(gettext("%(seconds)s s"), { seconds });
  return interpolate(gettext("%(minutes)s min %(seconds)s s"), { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

const COUNT = new Intl.NumberFormat(LOCALE);
const DECIMAL = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (number) => COUNT.format(number);
export const decimal = (number) => DECIMAL.format(number);
export const shortDate = (iso) => (isValid(iso) ? new Date(iso).toLocaleDateString(LOCALE) : "");
