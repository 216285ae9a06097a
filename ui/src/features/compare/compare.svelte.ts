import type { ComparedStep, Comparison } from '$host/bindings';
import { HostError, type Host } from '$host/host';

/** Steps that are the same on both sides, folded, or one that is not. */
export type Part = { kind: 'same'; first: number; steps: readonly ComparedStep[] } | { kind: 'step'; step: ComparedStep };

/** The steps with those that follow each other and are the same as one part. */
export function partsOf(steps: readonly ComparedStep[]): Part[] {
  const parts: Part[] = [];
  for (const step of steps) {
    const last = parts.at(-1);
    if (!step.same) parts.push({ kind: 'step', step });
    else if (last?.kind === 'same') parts[parts.length - 1] = { ...last, steps: [...last.steps, step] };
    else parts.push({ kind: 'same', first: step.step, steps: [step] });
  }
  return parts;
}

/** Two runs, compared page by page. */
export class CompareModel {
  comparison = $state.raw<Comparison | null>(null);
  steps = $state.raw<readonly ComparedStep[]>([]);
  next = $state<number | null>(0);
  busy = $state(false);
  error = $state.raw<HostError | null>(null);
  readonly parts = $derived(partsOf(this.steps));

  constructor(
    private readonly host: Host,
    readonly left: string,
    readonly right: string,
  ) {}

  async more(): Promise<void> {
    if (this.busy || this.next === null) return;
    this.busy = true;
    try {
      const page = await this.host.compareRuns(this.left, this.right, this.next);
      this.comparison = page;
      this.steps = [...this.steps, ...page.steps];
      this.next = page.next;
      this.error = null;
    } catch (thrown) {
      this.error = HostError.from(thrown);
    } finally {
      this.busy = false;
    }
  }

  /** Reads on until a step is here. */
  async reach(step: number): Promise<void> {
    while (this.next !== null && this.next <= step && this.error === null) await this.more();
  }
}
