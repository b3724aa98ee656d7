/** A time as a field of type `datetime-local` holds it, in the zone of the browser. Empty: there is none. */
export function localMinute(at: string | undefined): string {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return '';
  const date = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The time in such a field, RFC 3339 in UTC. undefined: there is none. */
export function timeOfMinute(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
