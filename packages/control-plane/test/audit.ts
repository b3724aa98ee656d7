import { createIdFactory } from '@gateway/shared/ids';
import { ownOrigin } from '../src/changes/store/change-origin.ts';
import {
  changeConfiguration,
  stampChange,
  type RecordedChange,
} from '../src/changes/store/record-change.ts';
import type { Database } from '../src/store/database.ts';
import type { Answer, CallOptions, TestApi } from './api.ts';

/** An audit event as the API shows it. */
export type AuditEvent = Readonly<Record<string, unknown>> & { readonly id: string };

/** The newest 200 audit events that match the filters. Rejects with the response if it is not a list. */
export async function auditEvents(
  api: TestApi,
  query = '',
  options: CallOptions = {},
): Promise<readonly AuditEvent[]> {
  const answer = await api.call('GET', `/v1/audit-events?limit=200${query}`, options);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json.data ?? [];
}

/** Creates a resource, as a client behind a trusted proxy. Rejects if the call is refused. */
export async function createFrom(
  api: TestApi,
  address: string,
  path: string,
  body: object,
): Promise<Answer & { readonly id: string }> {
  const headers = { 'x-forwarded-for': address };
  const answer = await api.call('POST', path, { body, headers });
  if (answer.status !== 201) throw new Error(answer.text);
  return { ...answer, id: answer.json.data?.id ?? '' };
}

/** Adds an audit event of this time, ms since the Unix epoch, and returns its id. */
export function addAuditEvent(
  db: Database,
  atMs: number,
  change: Pick<RecordedChange, 'action' | 'resourceId' | 'environments'> & { before?: object },
): Promise<string> {
  const event = stampChange(ownOrigin(createIdFactory(() => atMs)));
  const { before = null, ...rest } = change;
  return changeConfiguration(db, { caller: null }, undefined, () =>
    Promise.resolve({
      result: event.id,
      changes: [{ ...rest, audited: { event, before, after: {} } }],
    }),
  );
}
