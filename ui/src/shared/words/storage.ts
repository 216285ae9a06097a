import { counted } from './counted';

/** The words of what takes space, and of deleting a run. */
export const storage = {
  title: 'Space',
  all: (size: string) => `${size} in all`,
  log: 'Log',
  files: 'Files as they were, step by step',
  workspaces: 'Folders of runs',
  indexes: 'Indexes',
  largest: 'The runs that take most, each with what is its alone',
  more: (runs: number) => counted(runs, { one: (number) => `and ${number} more`, other: (number) => `and ${number} more` }),
  runSize: (log: string, folder: string) => `${log} of events, ${folder} in its folder`,
  free: 'Free what no run refers to',
  freed: (size: string) => `${size} were freed.`,
  nothingFreed: 'Nothing could be freed: runs refer to all of it, or it was kept within the last hour.',
  measuring: 'Measuring…',
  tryAgain: 'Try again',
  delete: 'Delete',
  deleteRun: (title: string) => `Delete “${title}”`,
  deleteTitle: 'Delete this run for good?',
  deleteSay: 'Its events, what they refer to and nothing else does, and the folder that it worked in are deleted. Nothing brings them back. Forks of it stay.',
  deleteHelpers: (helpers: number) => counted(helpers, { one: (number) => `${number} helper goes with it.`, other: (number) => `${number} helpers go with it.` }),
  keep: 'Keep it',
  deleteForGood: 'Delete for good',
  deleted: (title: string) => `“${title}” is deleted.`,
  deletedFreed: (title: string, size: string) => `“${title}” is deleted, and ${size} were freed.`,
};
