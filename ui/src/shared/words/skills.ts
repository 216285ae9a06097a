/** The words of `features/skills`, by component. */
export const skills = {
  dropVeil: {
    dropSkillHere: 'Drop a skill here',
    folderSkillMdZip: 'A folder with a SKILL.md, or a zip of one. You look through it before it is installed.',
  },
  skillDialog: {
    skill: 'What is in the skill',
    from: 'From',
    more: (more: string | number) => `… and ${more} more`,
    skillGrantsNothingHas: 'A skill grants nothing: what it has run passes the gate like everything else. What is told here are facts with their places, and no verdict.',
    dontInstall: 'Don’t install it',
    leave: 'Leave it',
    difference: (path: string | number) => `Difference of ${path}`,
    approveSkill: (name: string | number) => `Approve the skill ${name}?`,
    replaceSkill: (name: string | number) => `Replace the skill ${name}?`,
    installSkill: (name: string | number) => `Install the skill ${name}?`,
    approve: 'Approve it as it is',
    replace: 'Replace it',
    install: 'Install it',
    skillInstalled: (name: string | number) => `The skill ${name} is installed.`,
    skillApproved: (name: string | number) => `The skill ${name} is approved.`,
  },
};
