import { describe, expect, it } from '@jest/globals';
import type { ApiDocument } from '../../../api/contract/document.ts';
import type { Gateway } from '../../../harness/gateway.ts';
import { EVERY_SCOPE } from '../callers.ts';
import type { Cells } from '../cells.ts';
import { endpointOf } from '../names/places.ts';
import { bearing, signedIn, type Credential } from './credential.ts';
import { rotate } from './states.ts';

const CREDENTIALS = [
  'live',
  'within grace',
  'session',
  'session of a secret within grace',
] as const;

/** What a token may do with itself, by its credential: an old secret uses its token and never changes it. */
const OWN_TOKEN = `
                                        live grace | session of grace
GET /v1/tokens/{id}                   | ok   ok    | ok      ok
PATCH /v1/tokens/{id} name            | ok   x     | ok      x
PATCH /v1/tokens/{id} expires_at      | ok   x     | ok      x
DELETE /v1/tokens/{id}                | ok   x     | ok      x
POST /v1/tokens/{id}/rotate           | ok   x     | ok      x
`
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [call = '', ...groups] = line.split('|').map((part) => part.trim());
    return [call, groups.flatMap((group) => group.split(/ +/))] as const;
  });

/** When the token expires: never, or before the grace of its old secret ends. */
const LIVES = { 'that never expires': null, 'that expires soon': 600_000 } as const;

let names = 0;
const BODIES: Readonly<Record<string, () => object>> = {
  name: () => ({ name: `renamed by itself ${(names += 1)}` }),
  expires_at: () => ({ expires_at: inMs(300_000) }),
};

export function describeOwnToken(
  document: ApiDocument,
  gateway: () => Gateway,
  cells: Cells,
): void {
  describe('lets a token change itself only with its newest secret', () => {
    it('in each operation of a token', () => {
      const known = OWN_TOKEN.map(([call]) => call.split(' ').slice(0, 2).join(' '));
      const operations = document.operations.map(endpointOf);
      const ofToken = operations.filter((one) => one.includes('/v1/tokens/{id}'));
      expect([...new Set(known)].sort()).toEqual(ofToken.sort());
    });

    it.each(OWN_TOKEN)('%s', async (call, expected) => {
      const tries = Object.entries(LIVES).flatMap(([life, lifeMs]) =>
        CREDENTIALS.map(async (kind, index) => {
          const found = await tryOn(gateway(), call, { kind, lifeMs, expected: expected[index] });
          return found.map((fault) => `${call}, ${kind}, of a token ${life}: ${fault}`);
        }),
      );
      cells.add(tries.length);
      expect((await Promise.all(tries)).flat()).toEqual([]);
    });
  });
}

interface Try {
  readonly kind: (typeof CREDENTIALS)[number];
  readonly lifeMs: number | null;
  readonly expected: string | undefined;
}

async function tryOn(
  gateway: Gateway,
  call: string,
  { kind, lifeMs, expected = '' }: Try,
): Promise<readonly string[]> {
  const [method = '', template = '', field = ''] = call.split(' ');
  const expires_at = lifeMs === null ? null : inMs(lifeMs);
  const reach = { environments: ['production'], scopes: EVERY_SCOPE, expires_at };
  const { token, tokenId } = await gateway.tokenClient(reach);
  const credential = kind.startsWith('session') ? await signedIn(gateway, token) : bearing(token);
  const newest = kind.includes('grace') ? await rotate(gateway, tokenId, 'grace') : token;
  const before = await viewOf(gateway, tokenId);
  const path = template.replace('{id}', tokenId);
  const status = await statusOf(gateway, credential, method, path, BODIES[field]?.() ?? {});
  const isRight = expected === 'ok' ? status < 300 : status === 401;
  const faults = isRight ? [] : [`expected ${expected}, got ${status}`];
  if (expected === 'ok') return faults;
  if ((await viewOf(gateway, tokenId)) !== before) faults.push('the token has changed');
  const owner = await gateway.admin.call('GET', '/v1/whoami', { token: newest });
  if (owner.status !== 200) faults.push('its owner is locked out');
  return faults;
}

function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

async function statusOf(
  { admin }: Gateway,
  { headers, prefix }: Credential,
  method: string,
  path: string,
  body: object,
): Promise<number> {
  const options = { token: null, headers, ...(/P/.test(method) && { body }) };
  return (await admin.call(method, prefix + path, options)).status;
}

/** The token as the API shows it, without its use. */
async function viewOf({ admin }: Gateway, id: string): Promise<string> {
  const answer = await admin.get(`/v1/tokens/${id}`);
  return answer.body.replace(/"(last_used_at|request_id)":("[^"]*"|null),?/g, '');
}
