import { HostError } from '$host/host';

/** What was asked of the host last: its answer, or why there is none. An answer that was overtaken is dropped. */
export class Asked<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<HostError | null>(null);
  busy = $state(false);
  private turn = 0;

  /** Asks; what was there stays until the answer comes. */
  async ask(question: () => Promise<T>): Promise<void> {
    this.turn += 1;
    const turn = this.turn;
    this.busy = true;
    try {
      const value = await question();
      if (turn !== this.turn) return;
      this.value = value;
      this.error = null;
    } catch (thrown) {
      if (turn !== this.turn) return;
      this.value = null;
      this.error = HostError.from(thrown);
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }

  /** Forgets what was asked. */
  clear(): void {
    this.turn += 1;
    this.value = null;
    this.error = null;
    this.busy = false;
  }
}
