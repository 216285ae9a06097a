import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import remend from 'remend';

/**
 * Markdown of a model, as safe HTML, block by block: while text streams in, only its last blocks
 * are parsed and drawn again.
 */

/** A piece of the text whose HTML is settled once `raw` is. */
export interface MarkdownBlock {
  raw: string;
  html: string;
  /** The text of a block that is nothing but code. */
  code: string | null;
}

/** So many blocks at the end may still change when more text arrives. */
const OPEN_BLOCKS = 2;

/** `[S12]` or `[S12: "exact words"]`: the only way that a model names a source. */
const CITATION = /^\[(S\d{1,6})(?:\s*:\s*(?:"([^"\]]{0,600})"|“([^”\]]{0,600})”))?\](?!\()/;

interface CitationToken extends Tokens.Generic {
  type: 'citation';
  source: string;
  quote: string;
}

const marked = new Marked({
  gfm: true,
  extensions: [
    {
      name: 'citation',
      level: 'inline',
      start: (text) => text.search(/\[S\d/),
      tokenizer(text): CitationToken | undefined {
        const match = CITATION.exec(text);
        if (!match) return undefined;
        return { type: 'citation', raw: match[0], source: match[1] ?? '', quote: match[2] ?? match[3] ?? '' };
      },
      renderer(token) {
        const { source, quote } = token as CitationToken;
        const words = quote === '' ? '' : `<q>${escape(quote)}</q>`;
        return `${words}<a class="cite" href="#source-${source}">${source}</a>`;
      },
    },
  ],
  renderer: {
    // No picture is ever fetched: what a model says may not reach any host.
    image({ text, href }) {
      return `<span class="picture">Picture not shown: ${escape(text || href)}</span>`;
    },
    checkbox({ checked }) {
      return `<input type="checkbox" disabled${checked ? ' checked' : ''} aria-label="${checked ? 'done' : 'open'}"> `;
    },
    code({ text, lang }) {
      const name = (lang ?? '').split(/\s/)[0] ?? '';
      const label = name === '' ? '' : `<span class="language">${escape(name)}</span>`;
      return `<figure class="code">${label}<pre tabindex="0"><code>${escape(text)}</code></pre></figure>`;
    },
    table(token) {
      const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
        `<tr>${cells.map((cell) => `<${tag}${cell.align ? ` align="${cell.align}"` : ''}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
      const body = token.rows.map((cells) => row(cells, 'td')).join('');
      return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>`;
    },
    // Raw HTML of a model is text.
    html({ text }) {
      return escape(text);
    },
  },
});

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

const ALLOWED_TAGS = [
  'a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'input',
  'li', 'ol', 'p', 'pre', 'q', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
];
/** Attributes that never hold an address. */
const PLAIN_ATTRIBUTES = ['align', 'checked', 'class', 'disabled', 'start', 'tabindex', 'title', 'type'];

/** Only addresses that a browser opens, and places in this page. */
const ALLOWED_ADDRESS = /^(?:https?:|#source-)/i;

function sanitized(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ['href', ...PLAIN_ATTRIBUTES],
    ADD_URI_SAFE_ATTR: PLAIN_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: ALLOWED_ADDRESS,
  });
}

function rendered(token: Token): MarkdownBlock {
  return { raw: token.raw, html: sanitized(marked.parser([token])), code: token.type === 'code' ? String((token as Tokens.Code).text) : null };
}

/** The blocks of a text that grows at its end. */
export class MarkdownStream {
  private settled: MarkdownBlock[] = [];
  /** The text that the settled blocks cover. */
  private settledText = '';
  /** Blocks that were drawn but may still change, by their text. */
  private drawn = new Map<string, MarkdownBlock>();

  /** The blocks of `text`; `growing` closes what is still open at its end (`**bo` as `**bo**`). */
  update(text: string, growing: boolean): MarkdownBlock[] {
    const source = text.replace(/\r\n?/g, '\n');
    if (!source.startsWith(this.settledText)) this.reset();
    const tokens = marked.lexer(source.slice(this.settledText.length));
    if (growing) this.settle(tokens.splice(0, firstOpen(tokens)));
    const blocks = tokens.filter((token) => token.type !== 'space');
    const tail = blocks.map((token, place) =>
      growing && place === blocks.length - 1 ? closed(token) : (this.drawn.get(token.raw) ?? rendered(token)),
    );
    this.drawn = new Map((growing ? tail.slice(0, -1) : tail).map((block) => [block.raw, block]));
    return [...this.settled, ...tail];
  }

  private settle(tokens: Token[]): void {
    for (const token of tokens) {
      this.settledText += token.raw;
      if (token.type !== 'space') this.settled.push(this.drawn.get(token.raw) ?? rendered(token));
    }
  }

  private reset(): void {
    this.settled = [];
    this.settledText = '';
    this.drawn = new Map();
  }
}

/** Where the blocks begin that more text may still change. */
function firstOpen(tokens: readonly Token[]): number {
  let open = 0;
  for (let place = tokens.length - 1; place >= 0; place -= 1) {
    if (tokens[place]?.type !== 'space') open += 1;
    if (open === OPEN_BLOCKS) return place;
  }
  return 0;
}

/** An open block, with its markers closed so that half of a word is not shown as its syntax. */
function closed(token: Token): MarkdownBlock {
  if (token.type === 'code') return rendered(token);
  return { raw: token.raw, html: sanitized(marked.parser(marked.lexer(remend(token.raw, { linkMode: 'text-only' })))), code: null };
}

/** A finished text in one go. */
export function markdown(text: string): MarkdownBlock[] {
  return new MarkdownStream().update(text, false);
}
