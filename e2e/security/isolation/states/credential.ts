import type { Gateway } from '../../../harness/gateway.ts';

/** What authenticates a call: header fields, and where the call is sent. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Before the path of the management API. */
  readonly prefix: string;
}

/** null: no token. */
export function bearing(secret: string | null): Credential {
  return { headers: secret === null ? {} : { authorization: `Bearer ${secret}` }, prefix: '' };
}

/** Exchanges a secret for a session of the console. */
export async function signedIn(gateway: Gateway, secret: string): Promise<Credential> {
  const path = '/console/session';
  const answer = await gateway.admin.call('POST', path, { token: null, body: { token: secret } });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
  return { headers: { cookie, 'x-console-request': '1' }, prefix: '/console/api' };
}

export async function signOut(gateway: Gateway, { headers }: Credential): Promise<void> {
  await gateway.admin.call('DELETE', '/console/session', { token: null, headers });
}
