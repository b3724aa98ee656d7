/** A line of a log that tells of an error, as Postgres, nats-server, Node and our planes write it. */
const telling = /\bcannot start: |\bFATAL\b|\bPANIC\b|\[FTL\]|\[ERR\]|^\w*Error(?: \[\w+\])?: /;

/** The message of a JSON line of level error or fatal, with the error that it carries. */
function messageOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    // Not JSON after all, or cut off.
    return undefined;
  }
  const { level, msg, err } = entry as Partial<Record<string, unknown>>;
  const isError =
    level === 'error' || level === 'fatal' || (typeof level === 'number' && level >= 50);
  if (!isError || typeof msg !== 'string') return undefined;
  const cause = (err as { message?: unknown } | undefined)?.message;
  return typeof cause === 'string' ? `${msg}: ${cause}` : msg;
}

/** What the end of a log says about a failure, in one line; empty where it says nothing. */
export function lastWords(lines: readonly string[]): string {
  for (const line of lines.toReversed()) {
    const words = messageOf(line) ?? (telling.test(line) ? line : undefined);
    if (words !== undefined) return words.trim();
  }
  return lines.slice(-3).join(' ').trim();
}
