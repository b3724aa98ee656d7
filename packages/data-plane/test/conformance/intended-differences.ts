import type { Fields } from './fields-case.ts';

const OF_A_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'transfer-encoding'],
]);

const count = (fields: Fields, name: string) => fields.filter(([key]) => key === name).length;

/**
 * Requests that are malformed over HTTP/2 only: their stream is reset, and HTTP/1.1 gives them a meaning. All others have
 * the same result over both, where the reset of a stream is a 400 of HTTP/1.1. docs/run/security.md has this table.
 */
export const INTENDED_DIFFERENCES: Readonly<Record<string, (fields: Fields) => boolean>> = {
  'a space around a value': (fields) => fields.some(([, value]) => /^[ \t]|[ \t]$/.test(value)),
  'upper case in a name': (fields) => fields.some(([name]) => /[A-Z]/.test(name)),
  'a field of the connection': (fields) => fields.some(([name]) => OF_A_CONNECTION.has(name)),
  'a TE other than `trailers`': (fields) =>
    fields.some(([name, value]) => name === 'te' && value !== 'trailers'),
  'two equal lengths': (fields) => count(fields, 'content-length') > 1,
  'two equal Hosts without an authority': (fields) =>
    count(fields, 'host') > 1 && count(fields, ':authority') === 0,
  'an absolute path': (fields) =>
    fields.some(([name, value]) => name === ':path' && /^https?:/i.test(value)),
};

/** Whether the result over HTTP/2 is intended to be another. */
export function isIntended(fields: Fields): boolean {
  return Object.values(INTENDED_DIFFERENCES).some((applies) => applies(fields));
}
