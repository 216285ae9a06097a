/** The words of `features/rules`, by component. */
export const rules = {
  ruleItem: {
    rule: (words: string | number) => `Rule: ${words}`,
    keep: 'Keep',
    revoke: 'Revoke',
    revoke2: (words: string | number) => `Revoke: ${words}`,
  },
  ruleWords: {
    alsoHoldsAfterRun: 'It also holds after this run has read untrusted text',
    alsoAfterUntrustedText: 'also after untrusted text',
    agent: (agent: string | number) => `Agent ${agent}`,
  },
  rulesSection: {
    say: 'What you said “always” to, for one agent or for every run. Rules for one run stand in its inspector and end with it. A rule that denies beats one that asks, and that beats one that allows.',
    rules: 'Rules',
    noneEachAgentsOwn: 'None. Each agent’s own rules and the defaults by effect decide.',
    sayAlwaysApprovalRule: 'Say “always” to an approval, and the rule that it makes stands here.',
    readingRules: 'Reading the rules…',
    tryAgain: 'Try again',
    ruleRevokedRunsAt: 'The rule is revoked, for runs at work too.',
  },
};
