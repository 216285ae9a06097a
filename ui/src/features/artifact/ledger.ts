import type { Claim, ClaimState } from '$host/bindings';

export type ClaimTone = 'good' | 'wait' | 'bad' | 'soft';

/** The words and the tone of each state of a claim, in the order of the ledger's sum. */
export const CLAIM_STATES: Record<ClaimState, { words: string; says: string; tone: ClaimTone }> = {
  verbatim: { words: 'verbatim', says: 'The words occur in the source.', tone: 'good' },
  near: { words: 'near', says: 'Words much like them occur in the source.', tone: 'wait' },
  not_found: { words: 'not found', says: 'The words do not occur in the source.', tone: 'bad' },
  source_not_read: { words: 'source not read', says: 'The run never read this source.', tone: 'bad' },
  number_found: { words: 'number found', says: 'The number stands in the cited passage, with its unit.', tone: 'good' },
  number_not_found: { words: 'number not found', says: 'The number does not stand in the cited passage, or with another unit.', tone: 'bad' },
  cited: { words: 'cited', says: 'The source is cited without words.', tone: 'soft' },
  uncited: { words: 'uncited', says: 'A statement without a citation.', tone: 'soft' },
};

/** How many claims of each state, in the order above; states without claims are left out. */
export function ledgerCounts(ledger: readonly Claim[]): { state: ClaimState; number: number }[] {
  const states = Object.keys(CLAIM_STATES) as ClaimState[];
  return states
    .map((state) => ({ state, number: ledger.filter((claim) => claim.state === state).length }))
    .filter((entry) => entry.number > 0);
}

/** `31 verbatim, 1 near`. */
export function ledgerSum(ledger: readonly Claim[]): string {
  return ledgerCounts(ledger)
    .map(({ state, number }) => `${number} ${CLAIM_STATES[state].words}`)
    .join(', ');
}
