/** Words for numbers, times and sizes, the same on every screen. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `840`, `1.2k`, `21k`, `1.4M`. */
export function count(number: number): string {
  if (number < 1_000) return String(number);
  if (number < 9_950) return `${trim(number / 1_000)}k`;
  if (number < 999_500) return `${Math.round(number / 1_000)}k`;
  return `${trim(number / 1_000_000)}M`;
}

function trim(number: number): string {
  return number.toFixed(1).replace(/\.0$/, '');
}

/** Millionths of a dollar: `$1,234.50`, `$0.42`; more digits only below a cent. */
export function dollars(micro: number): string {
  if (micro > 0 && micro < 10_000) return `$${(micro / 1_000_000).toFixed(6).replace(/0+$/, '')}`;
  return `$${(micro / 1_000_000).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `1 step`, `14 steps`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `now`, `4 min`, `2 h`, `3 d`: how long ago something began. */
export function age(from: number, now: number): string {
  const passed = now - from;
  if (passed < MINUTE_MS) return 'just now';
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)} h`;
  return `${Math.floor(passed / DAY_MS)} d`;
}

/** `85 ms`, `1.8 s`, `2 min 5 s`, `1 h 4 min`: how long something took. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${trim(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return joined(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  return joined(Math.floor(seconds / 3_600), 'h', Math.floor((seconds % 3_600) / 60), 'min');
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** `512 B`, `3 KB`, `1.4 MB`; decimal, as file managers count. */
export function bytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  if (size < 999_500) return `${Math.round(size / 1_000)} KB`;
  return `${trim(size / 1_000_000)} MB`;
}

/** `20:14`, in the person's own time zone. */
export function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
}

/** `26 Nov 2026, 20:14`: the whole of it, for titles. */
export function dateTime(at: number): string {
  const date = new Date(at);
  const day = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
  return `${day}, ${clockTime(at)}`;
}

/** The heading that a run is listed under: `Today`, `Yesterday`, `This week`, `Earlier`. */
export function dayGroup(at: number, now: number): string {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const start = midnight.getTime();
  if (at >= start) return 'Today';
  if (at >= start - DAY_MS) return 'Yesterday';
  if (at >= start - 6 * DAY_MS) return 'This week';
  return 'Earlier';
}
