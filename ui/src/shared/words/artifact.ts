/** The words of `features/artifact`, by component. */
export const artifact = {
  artifactScreen: {
    backRun: 'Back to the run',
    backRunEsc: 'Back to the run  Esc',
    showFolder: 'Show folder',
    saveCopy: 'Save a copy',
    backRuns: 'Back to the runs',
    openingPage: 'Opening the page…',
    goBackRunSee: 'Go back to the run to see what it has delivered.',
    saved: (place: string | number) => `Saved as ${place}.`,
  },
  ledger: {
    evidence: 'Evidence',
    pageSaysAgainstBytes: 'What the page says, against the bytes that the run captured.',
    showOnly: 'Show only',
    claims: 'Claims',
    fileCarriesNoCitations: 'This file carries no citations.',
    askRunPageWhose: 'Ask the run for a page whose quotes and numbers name their sources; each is then checked here.',
    sourceSays: 'The source says',
    unknownSource: 'Unknown source',
    notAmongSourcesRun: 'Not among the sources of this run',
  },
};
