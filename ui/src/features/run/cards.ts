import type { ActionRow, PlanItem, Row } from '$host/bindings';
import { partial } from '$shared/partial';

/** What the card of an action shows of it: read from its arguments and its result, for the eye only. */

/** What kind of card an action has. Tools of servers, and what is not known, have the plain one. */
export type CardKind = 'search' | 'write' | 'edit' | 'command' | 'code' | 'plan' | 'note' | 'recall' | 'delegate' | 'plain';

const KINDS: Record<string, CardKind> = {
  search_library: 'search',
  read_source: 'search',
  web_fetch: 'search',
  write_file: 'write',
  edit_file: 'edit',
  run_command: 'command',
  job_output: 'command',
  run_code: 'code',
  update_plan: 'plan',
  pin_note: 'note',
  recall: 'recall',
  delegate: 'delegate',
};

/** The arguments of an action as an object, and whether their end was left out. */
export interface Arguments {
  fields: Record<string, unknown>;
  cut: boolean;
}

/** What a row says where it leaves the end of a text out. */
const CUT = /\n… \d+ more bytes$/;

/** The arguments of an action; `null` where they are no object. Of those that were cut, what is there. */
export function argumentsOf(action: Pick<ActionRow, 'arguments'>): Arguments | null {
  const cut = CUT.test(action.arguments);
  const value: unknown = cut ? partial(action.arguments.replace(CUT, '')) : whole(action.arguments);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { fields: value as Record<string, unknown>, cut } : null;
}

function whole(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // What is no JSON is shown as it stands.
    return undefined;
  }
}

/** A field of the arguments as text; empty where it is none. */
export function textOf(args: Arguments | null, name: string): string {
  const value = args?.fields[name];
  return typeof value === 'string' ? value : '';
}

/** The kind of card that an action has. One whose arguments can't be read, or that was refused, has the plain one. */
export function kindOf(action: ActionRow, args: Arguments | null): CardKind {
  const kind = KINDS[action.tool] ?? 'plain';
  if (action.state === 'rejected' || args === null) return 'plain';
  if (kind === 'plan' && planOf(args) === null) return 'plain';
  if (kind === 'search' && action.result !== '' && hitsOf(action.result).hits.length === 0) return 'plain';
  return kind;
}

/** A passage of a source among the findings of a search. */
export interface Hit {
  source: string;
  title: string;
  /** Where it stands: `papers/graphs.pdf, page 7`. */
  place: string;
  text: string;
}

/** A heading of a passage, as every passage has one before it. */
const HEADING = /^\[(S\d+)\] (.*?)(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))?$/;

/** The passages of a result, with what is said before and after them. */
export function hitsOf(result: string): { before: string; hits: Hit[] } {
  const before: string[] = [];
  const hits: Hit[] = [];
  for (const line of result.split('\n')) {
    const heading = HEADING.exec(line);
    if (heading) hits.push({ source: heading[1] ?? '', title: heading[2] ?? '', place: (heading[3] ?? '').replace(/, bytes \d+-\d+$/, ''), text: '' });
    else {
      const hit = hits.at(-1);
      if (hit) hit.text += `${line}\n`;
      else before.push(line);
    }
  }
  for (const hit of hits) hit.text = hit.text.trim();
  return { before: before.join('\n').trim(), hits };
}

/** A text in parts, of which every second is a word of the query. */
export function marked(text: string, query: string): string[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])];
  if (words.length === 0) return [text];
  const any = new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}]{0,2}(?![\\p{L}\\p{N}]))`, 'giu');
  return text.split(any);
}

/** What a command wrote, and the notes that the harness put after it, each in brackets on a line. */
export function outputOf(result: string): { output: string; notes: string[] } {
  const lines = result.trimEnd().split('\n');
  const notes: string[] = [];
  while (lines.length > 0) {
    const note = /^\[(.+)\]$/.exec(lines.at(-1) ?? '');
    if (!note) break;
    notes.unshift(note[1] ?? '');
    lines.pop();
  }
  return { output: lines.join('\n'), notes };
}

/** What a result that is too long to be shown is made of. */
export interface Offloaded {
  /** `84 KB of JSON`. */
  size: string;
  /** The file that holds it whole; empty where there is none. */
  file: string;
  outline: string;
}

const TOO_LONG = /^\[([^\]:]+): too long to be shown whole\. (?:(\S+) holds it, and )?read_result [^\]]*\]\n/;

/** What stands in the place of a result that was too long; `null` for every other. */
export function offloadedOf(result: string): Offloaded | null {
  const head = TOO_LONG.exec(result);
  return head ? { size: head[1] ?? '', file: head[2] ?? '', outline: result.slice(head[0].length).trimEnd() } : null;
}

/** The plan that an action sets; `null` where it sets none. */
export function planOf(args: Arguments | null): PlanItem[] | null {
  const items = args?.fields['items'];
  if (!Array.isArray(items)) return null;
  const plan = items.filter((item): item is PlanItem => typeof item === 'object' && item !== null && typeof (item as PlanItem).text === 'string');
  return plan.length === items.length ? plan : null;
}

/** An item of a plan with what became of it. */
export interface PlanChange {
  item: PlanItem;
  change: 'new' | 'moved' | 'same';
}

/** A plan beside the one before it: what is new, what changed its state, what left. */
export function planChanges(plan: readonly PlanItem[], before: readonly PlanItem[]): { items: PlanChange[]; gone: PlanItem[] } {
  const known = new Map(before.map((item) => [item.text, item]));
  const items = plan.map((item): PlanChange => {
    const old = known.get(item.text);
    return { item, change: before.length === 0 ? 'same' : !old ? 'new' : old.state !== item.state ? 'moved' : 'same' };
  });
  const kept = new Set(plan.map((item) => item.text));
  return { items, gone: before.filter((item) => !kept.has(item.text)) };
}

/** The plan that stood before an action set another one. */
export function planBefore(rows: readonly Row[], action: string): PlanItem[] {
  const place = rows.findIndex((row) => row.content.kind === 'action' && row.content.action === action);
  for (let at = place - 1; at >= 0; at -= 1) {
    const content = rows[at]?.content;
    if (content?.kind !== 'action' || content.tool !== 'update_plan' || content.state !== 'succeeded') continue;
    return planOf(argumentsOf(content)) ?? [];
  }
  return [];
}

/** A task that is given to a helper. */
export interface Task {
  title: string;
  brief: string;
}

export function tasksOf(args: Arguments | null): Task[] {
  const tasks = args?.fields['tasks'];
  if (!Array.isArray(tasks)) return [];
  return tasks.map((task: Partial<Task> | null) => ({ title: String(task?.title ?? ''), brief: String(task?.brief ?? '') }));
}

/** What was said earlier in a run, found again. */
export interface Recalled {
  place: string;
  text: string;
}

/** The passages of a result of `recall`. */
export function recalledOf(result: string): { before: string; found: Recalled[] } {
  const [before = '', ...parts] = result.split(/^== /m);
  const found = parts.map((part) => {
    const end = part.indexOf('\n');
    return end < 0 ? { place: part, text: '' } : { place: part.slice(0, end), text: part.slice(end + 1).trim() };
  });
  return { before: before.trim(), found };
}

/** A replacement as a difference: what both have at their ends stands around it. */
export function replaced(old: string, fresh: string): string {
  const [before, after] = [old.split('\n'), fresh.split('\n')];
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const kept = (lines: string[]) => lines.map((line) => ` ${line}`);
  const lines = [
    ...kept(before.slice(0, head)),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...kept(before.slice(before.length - tail)),
  ];
  return [`@@ -1,${before.length} +1,${after.length} @@`, ...lines].join('\n');
}
