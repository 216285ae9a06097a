/** The language that the words are in. */
export const LANGUAGE = 'en';

const rules = new Intl.PluralRules(LANGUAGE);
const numbers = new Intl.NumberFormat(LANGUAGE);

/** The forms that a language has for a number of things; a form that it has no use for is left out. */
export type Forms = { other: (number: string) => string } & Partial<Record<Intl.LDMLPluralRule, (number: string) => string>>;

/** So many things in the form that the language has for that number: `1 step`, `1,204 steps`. */
export function counted(number: number, forms: Forms, shown: string = numbers.format(number)): string {
  return (forms[rules.select(number)] ?? forms.other)(shown);
}

/** A whole number as the language writes it: `15,000`. */
export function whole(number: number): string {
  return numbers.format(number);
}
