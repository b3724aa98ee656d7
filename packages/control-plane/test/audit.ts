import type { Answer, CallOptions, TestApi } from './api.ts';

/** An audit event as the API shows it. */
export type AuditEvent = Readonly<Record<string, unknown>> & { readonly id: string };

/** The newest 200 audit events that pass the filters. Rejects with the answer where there is no list. */
export async function auditEvents(
  api: TestApi,
  query = '',
  options: CallOptions = {},
): Promise<readonly AuditEvent[]> {
  const answer = await api.call('GET', `/v1/audit-events?limit=200${query}`, options);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json.data ?? [];
}

/** Creates a resource, as a client behind a proxy that is trusted. Rejects where that is refused. */
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
