/** So many updates may wait for a frame; a window that draws no frames applies them at once. */
const WAITING_LIMIT = 256;

/** Gathers what arrives and hands it over once per animation frame, in order. */
export class FrameBatch<T> {
  private waiting: T[] = [];
  private frame = 0;

  constructor(private readonly apply: (batch: T[]) => void) {}

  push(item: T): void {
    this.waiting.push(item);
    if (this.waiting.length >= WAITING_LIMIT || document.hidden) {
      this.flush();
    } else if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => this.flush());
    }
  }

  /** Applies what waits now. */
  flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const batch = this.waiting;
    this.waiting = [];
    if (batch.length > 0) this.apply(batch);
  }

  /** Forgets what waits. */
  drop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.waiting = [];
  }
}
