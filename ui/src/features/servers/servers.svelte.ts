import type { PresetLine, ServerLine, ServerList, ServerRequest, SignInPage } from '$host/bindings';
import { HostError, type Host } from '$host/host';

/** A sign-in that goes on: the page is there as soon as the server has said where. */
export interface SigningIn {
  server: string;
  page: SignInPage | null;
  opened: boolean;
  error: HostError | null;
}

/** The MCP servers of this machine as the backend shows them. */
export class ServersModel {
  list = $state.raw<ServerList | null>(null);
  error = $state.raw<HostError | null>(null);
  /** What is being added or changed: a name, or an empty one for a new server. */
  editing = $state<string | null>(null);
  /** The servers that are tested now, each with when that began. */
  testing = $state.raw<Record<string, number>>({});
  signingIn = $state.raw<SigningIn | null>(null);
  /** What could not be done with a server, by its name. */
  failures = $state.raw<Record<string, HostError>>({});

  constructor(private readonly host: Host) {}

  get servers(): ServerLine[] {
    return this.list?.servers ?? [];
  }

  get presets(): PresetLine[] {
    return this.list?.presets ?? [];
  }

  line(name: string): ServerLine | undefined {
    return this.servers.find((line) => line.name === name);
  }

  async load(): Promise<void> {
    this.error = null;
    try {
      this.list = await this.host.listServers();
    } catch (thrown) {
      this.error = HostError.from(thrown);
    }
  }

  /** It throws what the backend refuses with. */
  async save(request: ServerRequest): Promise<void> {
    this.list = await this.host.saveServer(request);
  }

  /** Starts or reaches a server. What came of it stands in its line. */
  async test(name: string): Promise<void> {
    if (name in this.testing) return;
    this.testing = { ...this.testing, [name]: this.host.now() };
    await this.with(name, () => this.host.testServer(name));
    const { [name]: _, ...others } = this.testing;
    this.testing = others;
  }

  async stop(name: string): Promise<void> {
    await this.host.stopServer(name);
  }

  approve = (name: string, seen: string) => this.with(name, () => this.host.approveServer(name, seen));
  remove = (name: string) => this.with(name, () => this.host.removeServer(name));
  signOut = (name: string) => this.with(name, () => this.host.signOutOfServer(name));

  /** Signs the person in, and looks at the server when that went well. */
  async signIn(name: string): Promise<void> {
    const mine = (parts: Partial<SigningIn>) => {
      if (this.signingIn?.server === name) this.signingIn = { ...this.signingIn, ...parts };
    };
    this.signingIn = { server: name, page: null, opened: false, error: null };
    try {
      const list = await this.host.signInToServer(name, (page) => mine({ page }));
      this.list = list;
      if (this.signingIn?.server !== name) return;
      this.signingIn = null;
      await this.test(name);
    } catch (thrown) {
      mine({ error: HostError.from(thrown), page: null, opened: false });
    }
  }

  /** Opens the page in the person's browser, now that they have seen whose it is. */
  async openPage(): Promise<void> {
    const now = this.signingIn;
    if (!now?.page) return;
    try {
      await this.host.openLink(now.page.url);
      this.signingIn = { ...now, opened: true };
    } catch (thrown) {
      this.signingIn = { ...now, error: HostError.from(thrown) };
    }
  }

  async leaveSignIn(): Promise<void> {
    const now = this.signingIn;
    this.signingIn = null;
    if (now) await this.stop(now.server);
  }

  private async with(name: string, deed: () => Promise<ServerList>): Promise<void> {
    const { [name]: _, ...others } = this.failures;
    this.failures = others;
    try {
      this.list = await deed();
    } catch (thrown) {
      this.failures = { ...this.failures, [name]: HostError.from(thrown) };
    }
  }
}
