/** A time as a field of the type `datetime-local` has it: in the zone of the browser, exact to the minute. Empty: no time. */
export function localInputOf(time: string | undefined): string {
  const at = new Date(time ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const date = [
    String(at.getFullYear()).padStart(4, '0'),
    two(at.getMonth() + 1),
    two(at.getDate()),
  ];
  return `${date.join('-')}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** RFC 3339 of what such a field has; undefined if it is empty or has no such time. */
export function timeOfLocalInput(text: string): string | undefined {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
