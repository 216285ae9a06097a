import type { Effect, FlagWord, GrantSource, ServerLine, ServerState } from '$host/bindings';
import { plural } from '$shared/format';

export type Tone = 'plain' | 'good' | 'wait' | 'bad';

/** How a server stands, in a word or two. */
export const SERVER_STATES: Record<ServerState, { words: string; tone: Tone }> = {
  never_tried: { words: 'not tested', tone: 'plain' },
  met_before: { words: 'not tested since the start', tone: 'plain' },
  ready: { words: 'ready', tone: 'good' },
  needs_sign_in: { words: 'needs a sign-in', tone: 'wait' },
  key_refused: { words: 'key refused', tone: 'bad' },
  key_missing: { words: 'key missing', tone: 'wait' },
  changed: { words: 'tools changed', tone: 'wait' },
  failed: { words: 'failed', tone: 'bad' },
};

/** What a tool does to the world, in a word, and what that means. */
export const EFFECT_WORDS: Record<Effect, { words: string; means: string }> = {
  read: { words: 'reads', means: 'Reads, changes nothing' },
  workspace: { words: 'workspace', means: 'Changes files of the run’s workspace only' },
  reversible: { words: 'reversible', means: 'Changes something outside that can be taken back' },
  irreversible: { words: 'irreversible', means: 'Changes something outside for good, or does not say what it does' },
};

/** What is odd about a tool's words. */
export const FLAG_WORDS: Record<FlagWord, string> = {
  hidden_characters: 'Its words hold characters that nobody sees:',
  instructions: 'Its words give orders to the model:',
  secret_place: 'Its words name a place where secrets lie:',
  shadows: 'Its name looks like that of',
};

export const SOURCES: Record<GrantSource, string> = { secret: 'Key named', variable: 'Variable', text: 'Text' };

/** What there is to say of a server below its name, as the end of its place. */
export function summary(line: ServerLine): string {
  const parts: string[] = [];
  if (line.found) parts.push(plural(line.found.tools.length, 'tool'));
  else if (line.approved !== null) parts.push(`${plural(line.approved, 'tool')} approved`);
  if (line.signed_in) parts.push('signed in');
  return parts.join(' · ');
}
