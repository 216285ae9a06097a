// What scripts add to the transcript: a scrubber over the rows, both themes, and the requests.
(() => {
  const make = (name, props, ...children) => {
    const element = Object.assign(document.createElement(name), props);
    element.append(...children);
    return element;
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light';
  dark.addEventListener('change', paint);
  paint();

  const rows = [...document.querySelectorAll('main > .rein > .row')];
  if (rows.length === 0) return;
  const place = make('output', { textContent: `${rows.length} of ${rows.length}` });
  const scrub = make('input', { type: 'range', min: 1, max: rows.length, value: rows.length, ariaLabel: 'How much of the run is shown' });
  const show = () => {
    const shown = Number(scrub.value);
    rows.forEach((row, index) => row.classList.toggle('later', index >= shown));
    place.textContent = `${shown} of ${rows.length}`;
  };
  scrub.addEventListener('input', show);
  const open = make('button', { type: 'button', textContent: 'Open all' });
  open.addEventListener('click', () => {
    const all = [...document.querySelectorAll('main details')];
    const opened = all.some((one) => !one.open);
    all.forEach((one) => { one.open = opened; });
    open.textContent = opened ? 'Close all' : 'Open all';
  });
  document.querySelector('.sides').before(make('div', { className: 'inspect' }, make('span', { textContent: 'Replay' }), scrub, place, open));

  const number = new Intl.NumberFormat();
  const piece = (block) => make('details', {},
    make('summary', { textContent: `${block.section} · ${block.origin || 'the harness'}${block.untrusted ? ' · untrusted' : ''} · ${number.format(block.tokens)} tokens` }),
    make('pre', { className: 'words', textContent: block.words + (block.hidden_bytes ? `\n… ${number.format(block.hidden_bytes)} more bytes` : '') }));
  const request = (asked) => {
    const total = asked.sections.reduce((sum, [, tokens]) => sum + tokens, 0);
    const bar = make('div', { className: 'bar' });
    const legend = make('div', { className: 'legend detail' });
    for (const [section, tokens] of asked.sections) {
      const part = make('span', {});
      part.style.cssText = `flex: ${tokens}; background: var(--section-${section})`;
      bar.append(part);
      legend.append(make('span', { textContent: `${section} ${number.format(tokens)}` }));
    }
    const dropped = asked.dropped.length ? [make('p', { className: 'detail', textContent: 'No longer in it' }), ...asked.dropped.map(piece)] : [];
    return make('details', { className: 'request' },
      make('summary', { textContent: `Request ${asked.number} to ${asked.model}: ${number.format(total)} tokens, ${asked.new.length} new pieces` }),
      bar, legend,
      make('p', { className: 'detail', textContent: `SHA-256 ${asked.sha256}, ${number.format(asked.bytes)} bytes; the log ${asked.exact ? 'gives back exactly these bytes' : 'can’t give back these bytes'}` }),
      ...asked.new.map(piece), ...dropped);
  };
  for (const asked of JSON.parse(document.getElementById('requests').textContent)) {
    const after = rows.findLast((row) => Number(row.dataset.seq) <= asked.seq);
    (after ?? rows[0]).append(request(asked));
  }
})();
