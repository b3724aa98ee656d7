/**
 * A write waits for the data planes for no longer than this, whatever it asks for: a data plane that
 * passes calls on gives them up after 30 s, and the write itself takes some of that.
 */
export const MAX_WAIT_SECONDS = 20;
/** What is more is read as this, as RFC 9111 section 1.2.2 has it of seconds: it asks for as long as may be. */
const MAX_READ_SECONDS = 2 ** 31;

/** A preference: a name, a value, parameters that no preference of ours has. RFC 7240 section 2. */
const PREFERENCE = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:\s*=\s*([^;]*?))?\s*(?:;|$)/i;
const SECONDS = /^(?:(\d+)|"(\d+)")$/;
/** Commas within quotes do not part preferences. */
const BETWEEN = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;

/**
 * The seconds of `Prefer: wait=N` (RFC 7240 section 4.3); undefined where there is none, or where it is
 * malformed, which is as if it were not there. Of several the first one counts (section 2).
 */
export function preferredWait(field: string | undefined): number | undefined {
  if (field === undefined) return undefined;
  for (const text of field.split(BETWEEN)) {
    const [, name, value = ''] = PREFERENCE.exec(text.trim()) ?? [];
    if (name?.toLowerCase() !== 'wait') continue;
    const [, bare, quoted] = SECONDS.exec(value) ?? [];
    const digits = bare ?? quoted;
    return digits === undefined ? undefined : Math.min(Number(digits), MAX_READ_SECONDS);
  }
  return undefined;
}
