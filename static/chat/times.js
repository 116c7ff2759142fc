// Times as people read them, in the viewer's zone; input is ISO 8601 with offset.

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const CLOCK_SECONDS = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const LONG_DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });

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
  if (days === 0) return "Today";
  return days === 1 ? "Yesterday" : LONG_DAY.format(new Date(iso));
}

export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export const count = (number) => new Intl.NumberFormat("en-GB").format(number);
