import type { SkillLine, SkillList, ToldReview } from '../bindings';
import { opening } from './research';
import { eightChecks, type Story } from './story';

const HASH = '7d2f0c1a5be94e3a8c6b1f0d92e47a3355c08e6f1b2a4d7790aa3c1be8f5d241';

function skill(name: string, parts: Partial<SkillLine> = {}): SkillLine {
  return {
    name,
    description: 'Sorts beans by colour and counts them. Use when there are beans to sort.',
    place: 'installed here',
    folder: `~/.local/share/longrein/skills/${name}`,
    state: 'approved',
    state_words: 'approved',
    problems: [],
    can_remove: true,
    can_approve: false,
    ...parts,
  };
}

export function someSkills(): SkillList {
  return {
    faults: [],
    skills: [
      skill('citation-style', { description: 'Writes references as the group’s journal wants them. Use before a reference list is published.' }),
      skill('field-notes', {
        state: 'changed',
        state_words: 'changed since you approved it, so a run asks you first (added: scripts/upload.py; changed: SKILL.md)',
        description: 'Turns a day’s field notes into the lab’s table. Use when notes from the field are to be entered.',
        can_approve: true,
      }),
      skill('plots', {
        place: '~/.agents/skills',
        folder: '~/.agents/skills/plots',
        state: 'unreviewed',
        state_words: 'not looked at yet: a run asks you first',
        description: 'Draws plots that print well in one colour. Use for any figure of a paper.',
        can_remove: false,
        can_approve: true,
      }),
      skill('tables', {
        state: 'broken',
        state_words: 'can’t be used',
        description: '',
        problems: ['SKILL.md:3: The front matter is no YAML: a value holds “: ” and is not quoted. Put the value in quotes.'],
      }),
      skill('data-analysis', { place: 'ships with Longrein', folder: '(bundled)/data-analysis', state: 'bundled', state_words: 'used', description: 'Reads, cleans and summarises tables with Python’s standard library, and says what was done. Use for CSV, TSV and JSON.', can_remove: false }),
      skill('research-page', { place: 'ships with Longrein', folder: '(bundled)/research-page', state: 'bundled', state_words: 'used', description: 'Builds one page whose claims are quoted and cited. Use when the result of research is to be delivered.', can_remove: false }),
    ],
  };
}

/** The review of a skill that is new, or of one that changed. */
export function reviewOf(name: string, changed: boolean): ToldReview {
  const line = (place: string, words = '') => ({ place, words });
  const parts = [
    { title: 'Changed since it was approved', is_warning: true, more: 0, lines: changed ? [line('SKILL.md', 'changed, 1.9 kB → 2.1 kB'), line('scripts/upload.py', 'added')] : [] },
    {
      title: 'Look at',
      is_warning: true,
      more: 0,
      lines: [line('scripts/upload.py:4', 'it is about keys, tokens or passwords: token = os.environ["LAB_TOKEN"]'), line('SKILL.md:31:18', 'a character that is not seen: then U+202E sort')],
    },
    { title: 'Would run', is_warning: false, more: 0, lines: [line('SKILL.md:14', 'python3 scripts/notes.py notes.md'), line('SKILL.md:22', 'python3 scripts/upload.py table.csv')] },
    { title: 'Reaches', is_warning: false, more: 0, lines: [line('scripts/upload.py:9', 'host lab.example.org'), line('scripts/upload.py:2', 'network, by urllib.request'), line('scripts/upload.py:4', 'variable LAB_TOKEN')] },
    {
      title: '4 files, 9.6 kB',
      is_warning: false,
      more: 0,
      lines: [line('SKILL.md', '2.1 kB, text'), line('references/columns.md', '3.0 kB, text'), line('scripts/notes.py', '3.4 kB, Python program'), line('scripts/upload.py', '1.1 kB, Python program, may be run')],
    },
  ];
  return {
    name,
    description: 'Turns a day’s field notes into the lab’s table. Use when notes from the field are to be entered.',
    hash: HASH,
    is_change: changed,
    facts: [
      { name: 'hash', value: HASH },
      { name: 'licence', value: 'CC-BY-4.0 (LICENSE)' },
    ],
    parts: parts.filter((part) => part.lines.length > 0),
    changes: changed ? [{ path: 'SKILL.md', lines: '@@ -20,3 +20,6 @@\n \n Check that every row has a place and a date.\n+\n+Then upload the table:\n+python3 scripts/upload.py table.csv\n' }] : [],
  };
}

/** The same as the plain text that stands on a card. */
export const REVIEW_TEXT = `installed here: ~/.local/share/longrein/skills/field-notes

field-notes
Turns a day’s field notes into the lab’s table. Use when notes from the field are to be entered.

hash: ${HASH}
licence: CC-BY-4.0 (LICENSE)

Changed since it was approved
  SKILL.md  changed, 1.9 kB → 2.1 kB
  scripts/upload.py  added

Reaches
  scripts/upload.py:9  host lab.example.org

SKILL.md
@@ -20,3 +20,6 @@

 Check that every row has a place and a date.
+
+Then upload the table:
+python3 scripts/upload.py table.csv`;

/** A run that waits because a skill has changed. */
export function loading(run: string): Story {
  const why = 'the skill field-notes has changed since you approved it (added: scripts/upload.py; changed: SKILL.md)';
  return opening(run)
    .action({
      tool: 'load_skill',
      brief: 'field-notes',
      effect: 'workspace',
      state: 'asked',
      decision: why,
      checks: eightChecks({ effect: ['allow', 'it changes the workspace only'], reach: ['ask', why] }),
      decided_by: 'reach',
      seen: '7d'.repeat(32),
      arguments: JSON.stringify({ name: 'field-notes' }, null, 2),
      review: REVIEW_TEXT,
      latency_ms: null,
    })
    .state('waiting', 'An answer about load_skill');
}
