import type { Backend, KeyLine, KeyList, KeyPlace, PlaceRequest, ProviderLine } from '../bindings';
import { HostError } from '../host';

/** What the fake keychain, the fake file and the fake memory hold: names and last characters. */
export interface FakeKeys {
  place: KeyPlace;
  passphrase: string;
  kept: Record<string, string>;
  /** Names that a variable gives, with the variable and the last characters. */
  variables: Record<string, [string, string]>;
  /** Servers that are granted a secret, by its name. */
  granted: Record<string, string[]>;
}

export const FILE = '~/.local/share/longrein/secrets.age';

export function place(backend: Backend, parts: Partial<KeyPlace> = {}): KeyPlace {
  return { backend, chosen: true, standing: 'ready', problem: null, file: FILE, file_exists: backend === 'file', ...parts };
}

export function noKeychain(): KeyPlace {
  return place('keychain', {
    chosen: false,
    standing: null,
    problem: {
      class: 'unavailable',
      message: 'The keychain can’t be reached: this session has no D-Bus.',
      remedy: 'Choose an encrypted file or memory only for keys (in the settings, or with: longrein keys store file), or set the provider’s variable; a desktop session has a D-Bus by itself.',
    },
  });
}

export function someKeys(): FakeKeys {
  return {
    place: place('keychain', { chosen: false }),
    passphrase: 'four words of it',
    kept: { lab: 'q8Zd', 'exa-token': '77fe', 'old-gateway': 'a0c1' },
    variables: { lab: ['LONGREIN_LAB_API_KEY', 'w2Kp'] },
    granted: { 'exa-token': ['exa'] },
  };
}

function lineOf(keys: FakeKeys, name: string, usedBy: KeyLine['used_by']): KeyLine {
  const visible = keys.place.standing === 'ready';
  const last4 = visible ? keys.kept[name] : undefined;
  const kept = last4 === undefined ? null : { source: keys.place.backend, last4 };
  const variable = keys.variables[name];
  const found = variable ? { source: { environment: variable[0] }, last4: variable[1] } : kept;
  const missing = found === null && visible && typeof usedBy === 'object';
  return {
    name,
    used_by: usedBy,
    kept_as: name,
    found,
    overridden: variable ? kept : null,
    problem: missing ? { class: 'mistake', message: `No secret is named ${name}.`, remedy: `Set it here, or with: longrein keys set ${name}` } : null,
    can_set: !variable,
    can_remove: kept !== null,
    can_test: usedBy === 'provider' && found !== null,
  };
}

export function listOf(keys: FakeKeys, providers: ProviderLine[]): KeyList {
  const visible = keys.place.standing === 'ready';
  const names = providers.map((provider) => provider.name);
  const granted = Object.keys(keys.granted).filter((name) => !names.includes(name));
  const others = Object.keys(keys.kept).filter((name) => visible && !names.includes(name) && !granted.includes(name));
  return {
    place: keys.place,
    kept: visible ? Object.keys(keys.kept).length : null,
    keys: [
      ...names.map((name) => lineOf(keys, name, 'provider')),
      ...granted.map((name) => lineOf(keys, name, { servers: keys.granted[name]! })),
      ...others.map((name) => lineOf(keys, name, 'nothing')),
    ],
  };
}

/** The backend checks a key; here it has to be one word. */
export function checkKey(name: string, key: string): string[] {
  if (/\s/.test(key.trim())) throw new HostError('usage', `The secret ${name} can’t be kept. It has a space in it.`, 'Copy the key alone, without a name or a word before it.');
  return key.startsWith('sk-ant-') && name !== 'anthropic' ? ['This looks like a key of Anthropic.'] : [];
}

export function openWith(keys: FakeKeys, passphrase: string): void {
  if (passphrase !== keys.passphrase) throw new HostError('usage', `This passphrase does not open ${FILE}.`, 'Type it again. There is no way in without it: if it is lost, move the file away and set the keys anew.');
}

export function beginWith(keys: FakeKeys, passphrase: string): void {
  if (passphrase.trim().length < 8) throw new HostError('usage', 'The passphrase is too short.', 'Take at least 8 letters; several words are best.');
  keys.passphrase = passphrase;
}

export function choose(keys: FakeKeys, wanted: PlaceRequest): string[] {
  if (wanted.backend === 'file') {
    if (keys.place.file_exists) openWith(keys, wanted.passphrase ?? '');
    else beginWith(keys, wanted.passphrase ?? '');
  }
  const moved = wanted.take_along ? Object.keys(keys.kept) : [];
  if (!wanted.take_along) keys.kept = {};
  keys.place = place(wanted.backend, { file_exists: keys.place.file_exists || wanted.backend === 'file' });
  return moved;
}
