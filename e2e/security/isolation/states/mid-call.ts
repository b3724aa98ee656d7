import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiDocument } from '../../../api/contract/document.ts';
import type { Gateway } from '../../../harness/gateway.ts';
import type { ManagementRows } from '../calls/management-row.ts';
import { EVERY_SCOPE } from '../callers.ts';
import { changesSince } from '../changes.ts';
import type { Cells } from '../cells.ts';
import type { ManagementCall } from '../fresh-resources.ts';
import { endpointOf } from '../names/places.ts';
import { bearing, signedIn, signOut, type Credential } from './credential.ts';
import { holdCall, type HeldCall } from './held-call.ts';
import { rotate } from './states.ts';

interface Ending {
  readonly isSession?: true;
  end(gateway: Gateway, tokenId: string, credential: Credential): Promise<unknown>;
}

/** How a credential ends while a body is on its way. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  'its token is revoked': { end: ({ admin }, id) => admin.delete(`/v1/tokens/${id}`) },
  'its secret is rotated without grace': { end: (gateway, id) => rotate(gateway, id, 'no grace') },
  'its token expires': {
    end: ({ admin }, id) => {
      const expires_at = new Date(Date.now() + 300).toISOString();
      return admin.patch(`/v1/tokens/${id}`, { expires_at });
    },
  },
  'the token of its session is revoked': {
    isSession: true,
    end: ({ admin }, id) => admin.delete(`/v1/tokens/${id}`),
  },
  'the secret of its session is rotated without grace': {
    isSession: true,
    end: (gateway, id) => rotate(gateway, id, 'no grace'),
  },
  'its session signs out': {
    isSession: true,
    end: (gateway, _id, credential) => signOut(gateway, credential),
  },
};

/** Each operation with a body, each way in which its credential ends before the body has arrived, at each plane. */
export function describeMidCall(
  document: ApiDocument,
  gateway: () => Gateway,
  rows: () => ManagementRows,
  cells: Cells,
): void {
  const operations = document.operations.filter(({ requestBody }) => requestBody !== undefined);
  const endpoints = operations.map(endpointOf);
  const ways = Object.entries(ENDINGS).flatMap(([how, ending]) =>
    (['control plane', 'data plane'] as const).map((plane) => [how, plane, ending] as const),
  );
  describe('refuses a call whose credential ends before its body has arrived, and writes nothing', () => {
    // A call that is refused changes nothing, so all ways are tried on the same resources.
    const calls = new Map<string, ManagementCall>();
    beforeAll(async () => {
      for (const endpoint of endpoints) {
        const call = await rows()[endpoint]?.call();
        if (call === undefined) throw new Error(`the matrix does not say how to call ${endpoint}`);
        calls.set(endpoint, call);
      }
    });
    afterAll(async () => {
      for (const { cleanUp } of calls.values()) await cleanUp?.();
    });

    it.each(ways)('%s, through the %s', async (_how, plane, ending) => {
      const faults = await faultsOf(gateway(), plane, ending, calls);
      cells.add(calls.size);
      expect(faults).toEqual([]);
    });
  });
}

async function faultsOf(
  gateway: Gateway,
  plane: 'control plane' | 'data plane',
  ending: Ending,
  calls: ReadonlyMap<string, ManagementCall>,
): Promise<readonly string[]> {
  const { admin, controlPlane, dataPlanes } = gateway;
  const startedMs = Date.now();
  const { token, tokenId } = await gateway.tokenClient({ scopes: EVERY_SCOPE });
  const credential = ending.isSession ? await signedIn(gateway, token) : bearing(token);
  const { baseUrl = '' } = plane === 'control plane' ? controlPlane : (dataPlanes[0] ?? {});
  const holdAll = () =>
    Promise.all(
      [...calls].map(([endpoint, call]) => {
        const [method = ''] = endpoint.split(' ');
        return holdCall(baseUrl, credential, method, call, plane === 'data plane');
      }),
    );
  const held = await authenticated(gateway, token, holdAll);
  await ending.end(gateway, tokenId, credential);
  await eventually(async () => {
    const path = `${credential.prefix}/v1/whoami`;
    const answer = await admin.call('GET', path, { token: null, headers: credential.headers });
    expect(answer.status).toBe(401);
  });
  const answers = await Promise.all(held.map((one) => one.end()));
  const changes = await changesSince(admin, startedMs);
  return [...calls.keys()].flatMap((endpoint, index) => {
    const { status, requestId, body } = answers[index] ?? { status: 0, requestId: '', body: '' };
    const faults = status === 401 ? [] : [`${endpoint}: expected 401, got ${status} ${body}`];
    const done = changes.get(requestId);
    if (done !== undefined) faults.push(`${endpoint}: ${done.join(', ')} was done`);
    return faults;
  });
}

/**
 * Holds calls of a token, and resolves when all are authenticated, which the rest of its quota shows. If a new window of
 * the quota begins meanwhile, it holds others.
 */
async function authenticated(
  { admin }: Gateway,
  token: string,
  holdAll: () => Promise<readonly HeldCall[]>,
): Promise<readonly HeldCall[]> {
  const readQuota = async () => {
    const { headers } = await admin.call('GET', '/v1/whoami', { token });
    const [remaining, resetSeconds] = ['remaining', 'reset'].map((name) =>
      Number(headers.get(`x-ratelimit-${name}`)),
    );
    return { remaining: remaining ?? NaN, resetSeconds: resetSeconds ?? NaN };
  };
  for (;;) {
    const before = await readQuota();
    const held = await holdAll();
    let asked = 0;
    const isSameWindow = await eventually(async () => {
      asked += 1;
      const { remaining, resetSeconds } = await readQuota();
      if (resetSeconds > before.resetSeconds) return false;
      expect(remaining).toBe(before.remaining - asked - held.length);
      return true;
    });
    if (isSameWindow) return held;
    for (const one of held) one.destroy();
  }
}
