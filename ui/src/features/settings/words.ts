import type { Backend, Source } from '$host/bindings';

/** A place for keys, by its name. */
export const PLACES: Record<Backend, string> = {
  keychain: 'Keychain',
  file: 'Encrypted file',
  memory: 'Memory only',
};

const IN: Record<Backend, string> = { keychain: 'in the keychain', file: 'in the encrypted file', memory: 'in memory only' };

/** Where a key was found, as the end of a sentence. */
export function where(source: Source): string {
  return typeof source === 'string' ? IN[source] : `in the variable ${source.environment}`;
}

/** Whether a variable of the environment gives it. */
export function isVariable(source: Source): boolean {
  return typeof source !== 'string';
}
