/** The states of a control that a hand makes; a picture has no hand. */
export type Touch = 'hover' | 'active' | 'focus-visible';

const TOUCHES: readonly Touch[] = ['hover', 'active', 'focus-visible'];
/** What can be touched in a specimen. */
const CONTROLS = 'button, input, textarea, select, a[href]';

let doubled = false;

/**
 * Every rule that waits for a hand, once more for a class that says the same. Sheets are read when
 * the first specimen is shown: by then those of all components are there.
 */
function doubleRules(): void {
  if (doubled) return;
  doubled = true;
  for (const sheet of document.styleSheets) doubleIn(sheet);
}

function doubleIn(within: CSSStyleSheet | CSSGroupingRule): void {
  for (const rule of [...within.cssRules]) {
    if (rule instanceof CSSStyleRule) {
      if (!TOUCHES.some((touch) => rule.selectorText.includes(`:${touch}`))) continue;
      const selector = TOUCHES.reduce((text, touch) => text.replaceAll(`:${touch}`, `.as-${touch}`), rule.selectorText);
      within.insertRule(`${selector} { ${rule.style.cssText} }`, within.cssRules.length);
    } else if (rule instanceof CSSGroupingRule) {
      doubleIn(rule);
    }
  }
}

/** An attachment: the first control of the specimen looks as if a hand were on it. */
export function touched(touch: Touch | undefined): (element: HTMLElement) => void {
  return (element) => {
    if (!touch) return;
    doubleRules();
    (element.querySelector(CONTROLS) ?? element.firstElementChild)?.classList.add(`as-${touch}`);
  };
}
