import { describe, expect, it } from 'vitest';
import type { ComparedStep } from '$host/bindings';
import { partsOf } from './compare.svelte';

const step = (number: number, same: boolean): ComparedStep => ({ step: number, same, rows: [] });

describe('two runs side by side', () => {
  it('fold what is the same, and show what is not', () => {
    const parts = partsOf([step(0, true), step(1, true), step(2, false), step(3, true), step(4, false)]);
    expect(parts.map((part) => (part.kind === 'same' ? [part.first, part.steps.length] : part.step.step))).toEqual([[0, 2], 2, [3, 1], 4]);
    expect(partsOf([])).toEqual([]);
  });
});
