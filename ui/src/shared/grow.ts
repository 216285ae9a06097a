/** An attachment: a text area is as high as its text, within what its style allows. */
export function growing(value: () => string): (area: HTMLTextAreaElement) => void {
  return (area) => {
    value();
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  };
}

/** Whether a press of Enter sends, rather than making a new line or choosing a reading of a sign. */
export function sends(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.isComposing;
}
