import { getContext, setContext } from 'svelte';

/** Puts a text on the clipboard; tells whether it went well. A refusal is told by whoever does it. */
export type Copying = (text: string) => Promise<boolean>;

const KEY = Symbol('clipboard');

export function provideClipboard(copying: Copying): void {
  setContext(KEY, copying);
}

/** Where no clipboard was given, nothing can be copied and no button offers it. */
export function useClipboard(): Copying | undefined {
  return getContext<Copying | undefined>(KEY);
}
