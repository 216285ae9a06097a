/** The words of `shared`, by component. */
export const shared = {
  copy: {
    copy: (what: string | number) => `Copy ${what}`,
  },
  difference: {
    difference: 'Difference',
  },
  markdown: {
    code: 'the code',
  },
  numbered: {
    showLess: 'Show less',
    showAllLines: (lines: string | number) => `Show all ${lines} lines`,
  },
  pick: {
    none: 'None',
  },
  textPages: {
    shown: (what: string | number) => `what is shown of ${what}`,
    reading: 'Reading…',
    tryAgain: 'Try again',
    readMore: (next: string | number) => `Read on, ${next} more`,
  },
};
