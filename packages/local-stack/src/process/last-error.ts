import { SEVERITY_NUMBERS } from '@gateway/shared/telemetry/severity';

/** Matches an error line of Postgres, nats-server, Node and the planes. */
const errorLine = /\bcannot start: |\bFATAL\b|\bPANIC\b|\[FTL\]|\[ERR\]|^\w*Error(?: \[\w+\])?: /;

const ERROR = SEVERITY_NUMBERS['error'] ?? 0;

/** The message of a JSON line of level error or fatal, with the message of its error. */
function messageOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    // Not JSON, or incomplete.
    return undefined;
  }
  const { severity_number: severity, body, ...fields } = entry as Partial<Record<string, unknown>>;
  if (typeof severity !== 'number' || severity < ERROR || typeof body !== 'string')
    return undefined;
  const cause = fields['exception.message'];
  return typeof cause === 'string' ? `${body}: ${cause}` : body;
}

/** The last error of a log in one line, or its last three lines if none is an error. */
export function lastErrorOf(lines: readonly string[]): string {
  for (const line of lines.toReversed()) {
    const words = messageOf(line) ?? (errorLine.test(line) ? line : undefined);
    if (words !== undefined) return words.trim();
  }
  return lines.slice(-3).join(' ').trim();
}
