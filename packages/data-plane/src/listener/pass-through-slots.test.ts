import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

/** A gateway with few slots, and a control plane that keeps its responses until the test ends them. */
async function setUp(environment: Readonly<Record<string, string>>, hold = false) {
  const held: ServerResponse[] = [];
  let holding = hold;
  const upstream = opened(await startUpstream());
  const controlPlane = opened(
    await startUpstream((_seen, response) => {
      if (holding) held.push(response);
      else response.end('control');
    }),
  );
  const [admin, bare] = [createTokenSecret(), createTokenSecret()];
  const snapshot = testSnapshot({ upstreams: [upstream.url] }, admin);
  const tokens = [
    testToken(admin),
    { ...testToken(bare, { scopes: [], routes: [] }), id: 'tok_bare' },
  ];
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [] },
      {
        snapshots: [{ ...snapshot, tokens }],
        environment: {
          CONTROL_PLANE_URL: controlPlane.url,
          MAX_IN_FLIGHT_REQUESTS: '3',
          ...environment,
        },
      },
    ),
  );
  /** The control plane answers what it keeps, and from now on everything at once. */
  const release = () => {
    holding = false;
    for (const response of held.splice(0)) response.end('control');
  };
  /** Begins a body on a management path and never ends it. */
  const sendSlowly = async (token?: string) => {
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: a', 'Content-Length: 1000'];
    if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
    connection.send(requestText({ method: 'POST', target: '/v1/x', lines, body: 'x' }));
    return connection;
  };
  const manage = (token: string) =>
    fetch(`${gateway.url}/v1/services`, { headers: { authorization: `Bearer ${token}` } });
  const proxy = () =>
    fetch(`${gateway.url}/v1/proxy/test`, { headers: { authorization: `Bearer ${admin}` } });
  return { gateway, held, release, admin, bare, sendSlowly, manage, proxy };
}

describe('calls to the control plane', () => {
  it.each(['no token', 'an unknown token', 'a valid token without a scope'])(
    'with a slow body and %s hold no slot of the data path',
    async (kind) => {
      const { gateway, bare, sendSlowly, proxy } = await setUp({
        MAX_UNAUTHENTICATED_REQUESTS: '20',
        MAX_PASS_THROUGH_REQUESTS: '20',
      });
      const token =
        kind === 'no token' ? undefined : kind.startsWith('a valid') ? bare : createTokenSecret();
      for (let caller = 0; caller < 10; caller += 1) await sendSlowly(token);
      await eventually(async () => expect(await gateway.inFlight()).toBe(10));
      for (let again = 0; again < 5; again += 1) expect((await proxy()).status).toBe(200);
    },
  );

  it('without a valid token are refused above their own limit, and those with one are served', async () => {
    const { gateway, admin, sendSlowly, manage, proxy } = await setUp({
      MAX_UNAUTHENTICATED_REQUESTS: '3',
      MAX_PASS_THROUGH_REQUESTS: '3',
    });
    for (let caller = 0; caller < 3; caller += 1) await sendSlowly();
    await eventually(async () => expect(await gateway.inFlight()).toBe(3));
    const refused = await sendSlowly();
    const response = await refused.response();
    await expectRefusal(response, 503, 'gateway_overloaded');
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await manage(admin)).status).toBe(200);
    expect((await proxy()).status).toBe(200);
    const shed = await gateway.registry.getSingleMetricAsString('gateway_requests_shed_total');
    expect(shed).toContain('gateway_requests_shed_total{reason="pass_through_unauthenticated"} 1');
  });

  it('of one token leave slots for other tokens, and all get them back', async () => {
    const { gateway, admin, bare, sendSlowly, manage } = await setUp({
      MAX_PASS_THROUGH_REQUESTS: '100',
    });
    const slow = await Promise.all(Array.from({ length: 90 }, () => sendSlowly(bare)));
    await eventually(async () => expect(await gateway.inFlight()).toBe(75));
    expect((await manage(admin)).status).toBe(200);
    for (const connection of slow) connection.destroy();
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect((await manage(bare)).status).toBe(200);
  });

  it('that a control plane is slow to answer hold no slot of the data path', async () => {
    const { gateway, admin, held, release, manage, proxy } = await setUp(
      { MAX_PASS_THROUGH_REQUESTS: '12' },
      true,
    );
    const calls = Array.from({ length: 6 }, () => manage(admin));
    await eventually(() => expect(held.length).toBe(6));
    for (let again = 0; again < 5; again += 1) expect((await proxy()).status).toBe(200);
    release();
    for (const call of calls) expect((await call).status).toBe(200);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
  });

  it('without a token get few of the connections to a slow control plane', async () => {
    const { gateway, admin, held, release, manage } = await setUp({}, true);
    const anonymous = Array.from({ length: 80 }, () => fetch(`${gateway.url}/v1/x`));
    await eventually(async () => expect(await gateway.inFlight()).toBe(80));
    await eventually(() => expect(held.length).toBe(64));
    const call = manage(admin);
    await eventually(() => expect(held.length).toBe(65));
    release();
    for (const one of [call, ...anonymous]) expect((await one).status).toBe(200);
  });
});
