/** An attachment: a text area is as high as its text, within what its style allows. */
export function growing(value: () => string): (area: HTMLTextAreaElement) => () => void {
  return (area) => {
    value();
    const fit = () => {
      area.style.height = 'auto';
      area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
    };
    fit();
    // Another width is another number of lines; a window that is not shown yet has hardly any.
    let width = area.clientWidth;
    const observer = new ResizeObserver(() => {
      if (area.clientWidth === width) return;
      width = area.clientWidth;
      fit();
    });
    observer.observe(area);
    return () => observer.disconnect();
  };
}

/** Whether a press of Enter sends, rather than making a new line or choosing a reading of a sign. */
export function sends(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.isComposing;
}
