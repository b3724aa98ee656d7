import { InvalidArgumentError, Option } from 'commander';
import { durationMs } from '../../input/durations.ts';

export const SECRET_NOTE = 'The secret is shown only now. Store it.';

/** When a token ends: a time, from now on, or `never`. */
export const expiryOption = (nowMs: () => number): Option =>
  new Option(
    '--expires-at <time>',
    'a time, such as 2026-12-31T00:00:00Z, 12h or 90d, or never',
  ).argParser((text) => parseExpiry(text, nowMs()));

function parseExpiry(text: string, nowMs: number): string {
  if (text === 'never') return text;
  const fromNowMs = durationMs(text);
  if (fromNowMs !== undefined) return new Date(nowMs + fromNowMs).toISOString();
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new InvalidArgumentError(
    'It must be a time, such as 2026-12-31T00:00:00Z, 12h, 90d or never.',
  );
}

/** The field of the API. Commander would turn null into an empty text. */
export function expiryField(expiresAt: string | undefined): { expires_at?: string | null } {
  if (expiresAt === undefined) return {};
  return { expires_at: expiresAt === 'never' ? null : expiresAt };
}
