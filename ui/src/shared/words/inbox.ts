/** The words of what waits for the person. */
export const inbox = {
  title: 'Waiting for you',
  open: 'Open the run',
  opening: 'Opening the run…',
  reading: 'Reading the list of runs…',
  lastWords: 'What the model said last',
  asked: 'What is asked',
  nothing: 'Nothing waits for you.',
  comes: 'Approvals, questions and handoffs of all runs come here, the oldest first.',
  demo: 'demo',
  tryAgain: 'Try again',
  for: (title: string) => `for ${title}`,
  since: (moment: string) => `Since ${moment}`,
};
