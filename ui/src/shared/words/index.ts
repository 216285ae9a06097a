import { artifact } from './artifact';
import { compare } from './compare';
import { fork } from './fork';
import { inbox } from './inbox';
import { replay } from './replay';
import { rules } from './rules';
import { run } from './run';
import { runs } from './runs';
import { search } from './search';
import { servers } from './servers';
import { settings } from './settings';
import { shared } from './shared';
import { shell } from './shell';
import { skills } from './skills';
import { storage } from './storage';

/**
 * Every word of the window's components, by the place where it stands: texts as they are, and
 * functions for those with something in them, so that another language may order and decline them
 * as it needs to. One other object of this shape is one other language.
 */
export const texts = { artifact, compare, fork, inbox, replay, rules, run, runs, search, servers, settings, shared, shell, skills, storage };

export type Texts = typeof texts;
