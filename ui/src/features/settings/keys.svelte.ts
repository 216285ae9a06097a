import type { Backend, KeyLine, KeyList, KeyPlace } from '$host/bindings';
import { HostError, type Host } from '$host/host';

/** What the person is asked for in a dialog before something is done with keys. */
export type Asking =
  | { what: 'unlock'; then: () => void }
  | { what: 'begin'; then: () => void }
  | { what: 'change' }
  | { what: 'place'; backend: Backend };

/** The keys of this machine as the backend shows them. None of them is ever here. */
export class KeysModel {
  list = $state.raw<KeyList | null>(null);
  error = $state.raw<HostError | null>(null);
  /** Why the place could not be opened or changed, beside it. */
  placeError = $state.raw<HostError | null>(null);
  asking = $state.raw<Asking | null>(null);
  /** The name of the key that is being typed. */
  editing = $state<string | null>(null);
  /** What is odd about a key that was kept, by its name. */
  notes = $state.raw<Record<string, string[]>>({});
  busy = $state(false);

  constructor(private readonly host: Host) {}

  get place(): KeyPlace | null {
    return this.list?.place ?? null;
  }

  line(name: string): KeyLine | undefined {
    return this.list?.keys.find((line) => line.name === name);
  }

  async load(): Promise<void> {
    this.error = null;
    try {
      this.list = await this.host.listKeys();
    } catch (thrown) {
      this.error = HostError.from(thrown);
    }
  }

  /** Opens the field for a key; the place is opened first where it has to be. */
  edit(name: string): void {
    this.whenOpen(() => (this.editing = name));
  }

  /** Does something that needs an open place. One that can't be used says so beside the key. */
  whenOpen(then: () => void): void {
    const place = this.place;
    if (place?.backend === 'file' && place.standing === 'locked') this.asking = { what: 'unlock', then };
    else if (place?.backend === 'file' && place.standing === 'new') this.asking = { what: 'begin', then };
    else then();
  }

  /** Hands a key to the backend. It throws what the backend refuses with. */
  async set(name: string, key: string): Promise<void> {
    const saved = await this.host.setKey(name, key);
    this.list = saved.list;
    this.notes = { ...this.notes, [name]: saved.notes };
    this.editing = null;
  }

  async remove(name: string): Promise<void> {
    this.list = await this.host.removeKey(name);
    this.notes = { ...this.notes, [name]: [] };
  }

  /** Lets the system ask the person to unlock the keychain. */
  async unlockKeychain(): Promise<void> {
    await this.atPlace(async () => (this.list = await this.host.unlockKeys(null)));
  }

  async lock(): Promise<void> {
    await this.atPlace(async () => (this.list = await this.host.lockKeys()));
  }

  /** Another place; asked first where a passphrase is needed or something is kept in this one. */
  async choose(backend: Backend): Promise<void> {
    if (this.list === null || (backend === this.list.place.backend && this.list.place.chosen)) return;
    this.placeError = null;
    if (backend !== this.list.place.backend && (backend !== 'keychain' || this.list.kept !== 0)) this.asking = { what: 'place', backend };
    else await this.atPlace(() => this.move(backend, null, false));
  }

  /** It throws what the backend refuses with. */
  async move(backend: Backend, passphrase: string | null, takeAlong: boolean): Promise<void> {
    this.list = (await this.host.chooseKeyPlace({ backend, passphrase, take_along: takeAlong })).list;
    this.editing = null;
  }

  /** It throws what the backend refuses with. */
  async unlock(passphrase: string): Promise<void> {
    this.list = await this.host.unlockKeys(passphrase);
  }

  /** It throws what the backend refuses with. */
  async begin(passphrase: string): Promise<void> {
    this.list = await this.host.beginKeys(passphrase);
  }

  /** It throws what the backend refuses with. */
  async changePassphrase(old: string, passphrase: string): Promise<void> {
    this.list = await this.host.changePassphrase(old, passphrase);
  }

  private async atPlace(deed: () => Promise<unknown>): Promise<void> {
    this.placeError = null;
    this.busy = true;
    try {
      await deed();
    } catch (thrown) {
      this.placeError = HostError.from(thrown);
    } finally {
      this.busy = false;
    }
  }
}
