/** How often ages on the screen are drawn anew. */
const TICK_MS = 10_000;

/** The present as the screen shows it: ages are derived from `now`. */
export class Clock {
  now = $state(0);

  constructor(private readonly source: () => number) {
    this.now = source();
  }

  /** Ticks until the returned function is called. */
  start(): () => void {
    const timer = setInterval(() => (this.now = this.source()), TICK_MS);
    return () => clearInterval(timer);
  }
}
