import { describe, expect, it } from 'vitest';
import { markdown, MarkdownStream } from './markdown';

const html = (text: string) => markdown(text).map((block) => block.html.trim()).join('\n');
const shown = (text: string) => {
  const stream = new MarkdownStream();
  let blocks = stream.update('', true);
  for (let end = 1; end <= text.length; end += 1) blocks = stream.update(text.slice(0, end), true);
  return blocks;
};

const LONG = `# A heading

One **bold** paragraph with \`code\` and a [link](https://example.org/a).

- one
- two

  still two

1. first
2. second

\`\`\`rust
fn main() {

}
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |

> quoted
> on

The end [S3: "exact words"].`;

it('says which blocks are nothing but code, as it was written', () => {
  const blocks = markdown('One `word`.\n\n```html\n<b>bold</b>\n```\n');
  expect(blocks.map((block) => block.code)).toEqual([null, '<b>bold</b>']);
});

it('names the boxes of a list of tasks', () => {
  const html = markdown('- [x] read\n- [ ] write').map((block) => block.html).join('');
  expect(html.match(/aria-label="[a-z]+"/g)).toEqual(['aria-label="done"', 'aria-label="open"']);
});

describe('Markdown of a model', () => {
  it('draws the same blocks whether it came letter by letter or at once', () => {
    const stream = new MarkdownStream();
    for (let end = 1; end <= LONG.length; end += 1) stream.update(LONG.slice(0, end), true);
    expect(stream.update(LONG, false)).toEqual(markdown(LONG));
  });

  it('draws settled blocks once', () => {
    const stream = new MarkdownStream();
    const first = stream.update('One.\n\nTwo.\n\nThree.\n\nFo', true);
    const second = stream.update('One.\n\nTwo.\n\nThree.\n\nFour.', true);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBe(first[1]);
    expect(second[3]).not.toBe(first[3]);
  });

  it('starts anew when the text is another one', () => {
    const stream = new MarkdownStream();
    stream.update('One.\n\nTwo.\n\nThree.\n\nFour.', true);
    expect(stream.update('Other.', true).map((block) => block.html.trim())).toEqual(['<p>Other.</p>']);
  });

  it('closes what is open at its end', () => {
    expect(shown('so **bol').at(-1)?.html).toContain('<strong>bol</strong>');
    expect(shown('see [the pap').at(-1)?.html).not.toContain('[');
    expect(shown('```\nlet a').at(-1)?.html).toContain('<code>let a</code>');
  });

  it('makes a source id a link to the source, with the quoted words before it', () => {
    expect(html('It holds [S12].')).toContain('<a class="cite" href="#source-S12">S12</a>');
    expect(html('It holds [S12: "exact words"].')).toContain('<q>exact words</q><a class="cite" href="#source-S12">S12</a>');
    expect(html('[S12: "<b>x</b>"]')).toContain('<q>&lt;b&gt;x&lt;/b&gt;</q>');
    expect(html('`[S12]`')).toBe('<p><code>[S12]</code></p>');
  });

  it('never fetches a picture', () => {
    expect(html('![a chart](https://example.org/leak.png?secret)')).toBe('<p><span class="picture">Picture not shown: a chart</span></p>');
  });

  it('shows HTML as text and runs none of it', () => {
    const dangerous = ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', 'a <b onclick="x()">b</b>', '<iframe src="https://example.org"></iframe>', '<style>*{display:none}</style>'];
    for (const text of dangerous) {
      const drawn = html(text);
      expect(drawn).not.toMatch(/<(script|img|iframe|style|b)\b/);
      expect(drawn).toContain('&lt;');
    }
  });

  it('keeps addresses that a browser opens and drops all others', () => {
    expect(html('[a](https://example.org/)')).toContain('href="https://example.org/"');
    for (const address of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'tauri://localhost', 'vbscript:x']) {
      expect(html(`[a](${address})`)).not.toContain('href');
    }
  });

  it('aligns the columns of a table', () => {
    expect(html('| a |\n|--:|\n| 1 |')).toContain('<td align="right">1</td>');
  });
});
