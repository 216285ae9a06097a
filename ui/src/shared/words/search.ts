import { counted } from './counted';

/** The words of what is found in the runs. */
export const search = {
  found: 'Found in what was said',
  searching: 'Searching in everything…',
  nothing: 'Nothing that was said or found has all these words.',
  hint: 'Words between quotation marks have to follow each other.',
  more: 'Show more',
  count: (hits: number, more: boolean) => (more ? `${counted(hits, { other: (number) => number })}+` : counted(hits, { other: (number) => number })),
  kinds: {
    you: 'You said',
    answer: 'The model said',
    request: 'Asked for',
    result: 'A result',
    plan: 'The plan',
    file: 'A file',
    source: 'A source',
    question: 'A question',
    note: 'A pinned note',
    summary: 'A summary',
  } as Record<string, string>,
};
