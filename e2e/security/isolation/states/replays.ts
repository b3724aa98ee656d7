import { describe, expect, it } from '@jest/globals';
import type { ApiDocument } from '../../../api/contract/document.ts';
import type { Answer } from '../../../harness/client.ts';
import type { Gateway } from '../../../harness/gateway.ts';
import type { ManagementRow, ManagementRows } from '../calls/management-row.ts';
import { ENVIRONMENTS, EVERY_SCOPE } from '../callers.ts';
import type { Cells } from '../cells.ts';
import { removeMade, type ManagementCall } from '../fresh-resources.ts';
import { endpointOf } from '../names/places.ts';
import { bearing, signedIn, type Credential } from './credential.ts';
import { rotate } from './states.ts';

/** How a secret is presented. */
const CHANNELS = { 'a secret': 'secret', 'a session of a secret': 'session' } as const;
type Channel = (typeof CHANNELS)[keyof typeof CHANNELS];

const OWN_ROTATION = 'POST /v1/tokens/{id}/rotate of its own token';
/** A stored answer with a secret is not for an old secret, and is still there for the newest one. */
const WITH_SECRET = ['POST /v1/tokens', 'POST /v1/tokens/{id}/rotate', OWN_ROTATION];

/** Each operation with an idempotency key, and who gets the stored answer of the first call with it. */
export function describeReplays(
  document: ApiDocument,
  gateway: () => Gateway,
  rows: () => ManagementRows,
  cells: Cells,
): void {
  const keyed = document.operations.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  describe('gives a stored answer only to a secret that may get it now', () => {
    it.each([...keyed.map(endpointOf), OWN_ROTATION])('%s', async (name) => {
      const row = rows()[name.replace(' of its own token', '')];
      if (row === undefined) throw new Error(`the matrix does not say how to call ${name}`);
      const faults: string[] = [];
      for (const [who, channel] of Object.entries(CHANNELS)) {
        const replays = await replaysOf(gateway(), name, row, channel);
        cells.add(replays.length);
        for (const { state, expected, answer } of replays) {
          const fault = faultOf(expected, answer, row.action !== undefined);
          if (fault !== undefined) faults.push(`${name}, ${who} ${state}: ${fault}`);
        }
      }
      expect(faults).toEqual([]);
    });
  });
}

interface Replay {
  readonly state: string;
  readonly expected: 'ok' | 'x';
  readonly answer: Answer;
}

let keys = 0;

async function replaysOf(
  gateway: Gateway,
  name: string,
  row: ManagementRow,
  channel: Channel,
): Promise<readonly Replay[]> {
  const environments = ENVIRONMENTS[row.environments ?? 'production'];
  const { token, tokenId } = await gateway.tokenClient({ environments, scopes: EVERY_SCOPE });
  const isOwn = name === OWN_ROTATION;
  const ownRotation = { path: `/v1/tokens/${tokenId}/rotate`, body: { grace_seconds: 3600 } };
  const call: ManagementCall = isOwn ? ownRotation : await row.call();
  const key = { 'idempotency-key': `stored-${(keys += 1)}` };
  const replays: Replay[] = [];
  const present = (secret: string) =>
    channel === 'session' ? signedIn(gateway, secret) : Promise.resolve(bearing(secret));
  const send = ({ headers, prefix }: Credential) => {
    const options = { token: null, headers: { ...headers, ...key }, body: call.body };
    return gateway.admin.call('POST', prefix + call.path, options);
  };
  const replay = async (state: string, expected: 'ok' | 'x', credential: Credential) => {
    replays.push({ state, expected, answer: await send(credential) });
  };

  const first = await present(token);
  const answer = await send(first);
  if (answer.status !== row.status) throw new Error(`${name}: ${answer.status} ${answer.body}`);
  const newest = isOwn
    ? String(answer.resource()['secret'])
    : await rotate(gateway, tokenId, 'grace');
  const second = await present(newest);
  await replay('within its grace', WITH_SECRET.includes(name) ? 'x' : 'ok', first);
  await replay('that is the newest', 'ok', second);
  const last = await present(await rotate(gateway, tokenId, 'no grace'));
  await replay('that was rotated away', 'x', second);
  await gateway.admin.delete(`/v1/tokens/${tokenId}`);
  await replay('of a revoked token', 'x', last);
  await removeMade(gateway.admin, answer);
  await call.cleanUp?.();
  return replays;
}

function faultOf(
  expected: 'ok' | 'x',
  { status, headers, body }: Answer,
  isStored: boolean,
): string | undefined {
  const isReplayed = headers.get('idempotent-replayed') === 'true';
  const hasSecret = body.includes('gwt_');
  const isRight =
    expected === 'ok'
      ? status < 300 && isReplayed === isStored
      : status === 401 && !isReplayed && !hasSecret;
  return isRight
    ? undefined
    : `expected ${expected}, got ${status} ${hasSecret ? 'with the secret' : body}`;
}
