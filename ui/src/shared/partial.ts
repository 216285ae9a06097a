/** JSON that ends anywhere, read as far as it goes. */

/** What is there of a value: a string that was cut ends where it does, a key without a value is left out. */
export function partial(json: string): unknown {
  return new Reader(json).value();
}

/** Deeper than this nothing is read. */
const DEPTH_LIMIT = 64;

class Reader {
  private at = 0;
  private depth = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    this.space();
    const sign = this.text[this.at];
    if (sign === '"') return this.string();
    if (sign === '{' || sign === '[') {
      if (this.depth >= DEPTH_LIMIT) return this.end();
      this.depth += 1;
      const value = sign === '{' ? this.object() : this.array();
      this.depth -= 1;
      return value;
    }
    const word = /^[-+.\w]+/.exec(this.text.slice(this.at, this.at + 40))?.[0] ?? '';
    this.at += word.length;
    // A word at the very end may be cut: `tru`, `12` of `120`.
    if (word === '' || this.at >= this.text.length) return this.end();
    try {
      return JSON.parse(word);
    } catch {
      return this.end();
    }
  }

  private object(): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    this.at += 1;
    while (this.next('}')) {
      if (this.text[this.at] !== '"') break;
      const key = this.string();
      this.space();
      if (this.text[this.at] !== ':') break;
      this.at += 1;
      const value = this.value();
      if (value !== undefined) Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return fields;
  }

  private array(): unknown[] {
    const items: unknown[] = [];
    this.at += 1;
    while (this.next(']')) {
      const value = this.value();
      if (value === undefined) break;
      items.push(value);
    }
    return items;
  }

  /** Whether another part comes before the closing sign. */
  private next(closing: string): boolean {
    this.space();
    if (this.text[this.at] === ',') this.at += 1;
    this.space();
    if (this.at >= this.text.length) return false;
    if (this.text[this.at] !== closing) return true;
    this.at += 1;
    return false;
  }

  private string(): string {
    const whole = /"(?:[^"\\]|\\.)*"/sy;
    whole.lastIndex = this.at;
    const found = whole.exec(this.text)?.[0];
    if (found !== undefined) {
      this.at += found.length;
      try {
        return JSON.parse(found) as string;
      } catch {
        return found.slice(1, -1);
      }
    }
    // It was cut: an escape that was cut in its middle says nothing.
    const rest = this.text.slice(this.at + 1).replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i, '$1');
    this.at = this.text.length;
    try {
      return JSON.parse(`"${rest}"`) as string;
    } catch {
      return rest;
    }
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at += 1;
  }

  private end(): undefined {
    this.at = this.text.length;
    return undefined;
  }
}
