import type { components } from '@gateway/client';
import { FailedError, UsageError } from '../program/exit-codes.ts';
import type { Session } from '../session.ts';
import { idPattern } from './only-match.ts';

type AuditEvent = components['schemas']['AuditEvent'];

const ID = idPattern('aud');
/** Crockford's base 32, in which ids begin with their time. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
/** No time that the API reads is later. */
const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** The audit event with an id. The API finds events by their time, which is a part of the id. */
export async function findAuditEvent({ client }: Session, id: string): Promise<AuditEvent> {
  if (!ID.test(id)) throw new UsageError(`${id} is not the id of an audit event, such as aud_…`);
  const atMs = timeOf(id);
  if (atMs >= END_OF_TIME_MS) throw notFound(id);
  const query = {
    since: new Date(atMs).toISOString(),
    until: new Date(atMs + 1).toISOString(),
    limit: 200,
  };
  for await (const event of client.list('/v1/audit-events', { params: { query } })) {
    if (event.id === id) return event;
  }
  throw notFound(id);
}

function notFound(id: string): FailedError {
  return new FailedError(`there is no audit event ${id}, or the token does not cover it`);
}

function timeOf(id: string): number {
  let ms = 0;
  const digits = id.slice('aud_'.length);
  for (let at = 0; at < TIME_CHARS; at += 1) {
    ms = ms * DIGITS.length + DIGITS.indexOf(digits.charAt(at));
  }
  return ms;
}
