/** One argument of an action as a line of the approval. */
export interface ArgumentLine {
  name: string;
  value: string;
}

/**
 * The arguments as lines, each value whole: what is approved is what is seen. A text that is no
 * JSON object (it may have been cut) is shown as it stands.
 */
export function argumentLines(text: string): ArgumentLine[] {
  const parsed = parse(text);
  if (parsed === null) return [{ name: 'Arguments', value: text }];
  return Object.entries(parsed).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  }));
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
