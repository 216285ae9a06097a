import { inbox } from './inbox';

/**
 * Every word of the window, by the place where it stands: texts as they are, and functions for those
 * with something in them, so that another language may order and decline them as it needs to. One
 * other object of this shape is one other language.
 */
export const words = { inbox };

export type Words = typeof words;
