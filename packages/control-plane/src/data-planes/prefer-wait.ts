/**
 * The longest wait of a write for the data planes: a data plane that passes the call through times out
 * after 30 s, and the write itself takes a part of that.
 */
export const MAX_WAIT_SECONDS = 20;
/** A larger number is read as this one (RFC 9111 section 1.2.2). */
const MAX_PARSED_SECONDS = 2 ** 31;

/** A preference: a name, a value, and parameters, which are ignored (RFC 7240 section 2). */
const PREFERENCE = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:\s*=\s*([^;]*?))?\s*(?:;|$)/i;
const SECONDS = /^(?:(\d+)|"(\d+)")$/;
/** A comma outside of quotes. */
const SEPARATOR = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;

/**
 * The seconds of `Prefer: wait=N` (RFC 7240 section 4.3); undefined if the field has no `wait` or a
 * malformed one. The first `wait` counts (section 2).
 */
export function preferredWait(field: string | undefined): number | undefined {
  if (field === undefined) return undefined;
  for (const text of field.split(SEPARATOR)) {
    const [, name, value = ''] = PREFERENCE.exec(text.trim()) ?? [];
    if (name?.toLowerCase() !== 'wait') continue;
    const [, bare, quoted] = SECONDS.exec(value) ?? [];
    const digits = bare ?? quoted;
    return digits === undefined ? undefined : Math.min(Number(digits), MAX_PARSED_SECONDS);
  }
  return undefined;
}
