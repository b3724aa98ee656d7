import { expectRefusal } from '@gateway/shared/test/refusal';
import { eventually } from '@gateway/shared/test/eventually';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

/** Every kind of caller that gets 401, and its token, if any. */
const kinds: Readonly<Record<string, Readonly<Record<string, () => unknown>> | undefined>> = {
  'without a token': undefined,
  'with an empty credential': undefined,
  'with another scheme': undefined,
  'with a malformed token': undefined,
  'with two tokens in one field': undefined,
  'with an unknown token': undefined,
  'with an expired token': { expires_at: () => new Date(Date.now() + 500).toISOString() },
  'with a revoked token': {},
  'with a token of another environment': { environments: () => ['development'] },
  'with a token without the route': { routes: () => ['refunds'] },
  'with a token without the scope': { scopes: () => ['services:read'] },
};

describe('a caller that must be refused with 401 and reach no upstream', () => {
  let gateway: BorrowedGateway;
  let routePath: string;
  const callers = new Map<string, CallOptions>();

  beforeAll(async () => {
    gateway = await borrowGateway();
    const { token: admin } = gateway.admin;
    const written: Record<string, string> = {
      'with an empty credential': 'Bearer ',
      'with another scheme': `Basic ${admin}`,
      'with a malformed token': `Bearer ${admin.slice(0, -1)}`,
      'with two tokens in one field': `Bearer ${admin}, Bearer ${admin}`,
      'with an unknown token': `Bearer ${createTokenSecret()}`,
    };
    for (const [kind, fields] of Object.entries(kinds)) {
      const authorization = written[kind];
      if (fields === undefined) {
        callers.set(
          kind,
          authorization === undefined ? { token: null } : { headers: { authorization } },
        );
        continue;
      }
      const made = Object.entries(fields).map(([name, value]) => [name, value()] as const);
      const { token, tokenId } = await gateway.tokenClient(Object.fromEntries(made));
      // The header is needed: without it the request would use the only environment of the token.
      callers.set(kind, { token, headers: { 'x-gateway-environment': 'production' } });
      if (kind === 'with a revoked token') {
        await gateway.admin.delete(`/v1/tokens/${tokenId}`);
      }
    }
    routePath = `/v1/routes/${(await gateway.route({ name: 'orders' })).id}`;
    await gateway.settled();
    await eventually(async () => {
      const expired = await gateway.admin.proxy('orders', callers.get('with an expired token'));
      expect(expired.status).toBe(401);
    });
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it.each(Object.keys(kinds))('%s, on the proxy path', async (kind) => {
    const before = gateway.upstream.seen.length;
    for (const { baseUrl } of gateway.dataPlanes) {
      const answer = await gateway.admin.at(baseUrl).proxy('orders', callers.get(kind));
      await expectRefusal(answer, 401, 'authentication_failed');
    }
    expect(gateway.upstream.seen).toHaveLength(before);
  });

  it.each(Object.keys(kinds))('%s, on the management API', async (kind) => {
    for (const { baseUrl } of [gateway.controlPlane, ...gateway.dataPlanes]) {
      const answer = await gateway.admin.at(baseUrl).get(routePath, callers.get(kind));
      await expectRefusal(answer, 401, 'authentication_failed');
      const change = await gateway.admin
        .at(baseUrl)
        .patch(routePath, { status: 'disabled' }, callers.get(kind));
      await expectRefusal(change, 401, 'authentication_failed');
    }
    expect((await gateway.admin.get(routePath)).resource()['status']).toBe('active');
  });

  it('does not learn whether a route exists that its token does not cover', async () => {
    const caller = callers.get('with a token without the route');
    const [known, unknown] = [
      await gateway.admin.proxy('orders', caller),
      await gateway.admin.proxy('no-such-route', caller),
    ];
    const messageOf = (answer: { json(): unknown }) =>
      (answer.json() as { error: { message: string } }).error.message;
    expect(messageOf(known)).toBe(messageOf(unknown));
    expect(unknown.status).toBe(401);
  });
});
