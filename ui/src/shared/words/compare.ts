import { counted, whole } from './counted';

/** The words of two runs side by side. */
export const compare = {
  title: 'Two runs side by side',
  back: 'Back to the run',
  reading: 'Comparing the runs…',
  tryAgain: 'Try again',
  shared: (events: number) => counted(events, { one: () => `They have their first event from the same run.`, other: (number) => `They have their first ${number} events from the same run.` }),
  nothingShared: 'Neither is a fork of the other: they are aligned by their steps.',
  same: 'They don’t differ in anything that was said or done.',
  parts: (step: number, why: string) => (step === 0 ? `They differ before the first step: ${why}` : `They part in step ${whole(step)}: ${why}`),
  goThere: 'Go there',
  firstDifference: 'First difference',
  step: (step: number) => (step === 0 ? 'Before the first step' : `Step ${whole(step)}`),
  sameSteps: (steps: number) => counted(steps, { one: (number) => `${number} step is the same`, other: (number) => `${number} steps are the same` }),
  unfold: 'Show them',
  fold: 'Fold them',
  nothing: 'nothing',
  ended: 'It had ended.',
  lookBack: (title: string, event: number) => `Look back at ${title}, event ${whole(event)}`,
  more: 'Read on',
  pick: 'Compare with another run',
  find: 'Find a run',
  none: 'No run is like that.',
  cancel: 'Cancel',
  swap: 'Change sides',
  run: (agent: string, model: string) => `${agent}, ${model}`,
};
