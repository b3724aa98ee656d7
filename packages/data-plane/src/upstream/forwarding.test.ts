import { expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import type { RequestContext } from '../request/context.ts';
import { EMPTY_BODY } from '../request/request-body.ts';
import { TimeAccount } from '../request/time-account.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { Forwarding } from './forwarding.ts';
import type { ForwardingOptions } from './forwarding-options.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { UpstreamClient } from './upstream-client.ts';

it('gives up a request that lost its idempotency key while it waited for a connection', () => {
  const holdsKey = () => false;
  const ctx = {
    deadlineMs: systemClock.monotonicMs() + 5000,
    callerDeadlineMs: Infinity,
    method: 'POST',
    target: { subPath: '/pay', query: '' },
    framing: { kind: 'none' },
    body: EMPTY_BODY,
    attempts: [],
    inbound: { raw: [], connection: '', idempotencyKey: 'k' },
    capture: (response: unknown) => response,
    holdsKey,
    whenClientGone: () => undefined,
    trace: { traceparent: 't' },
    protocol: 'http',
    httpVersion: '1.1',
    peerAddress: '127.0.0.1',
    id: 'req_1',
    times: new TimeAccount(0),
    mayHaveSent: false,
  } as unknown as RequestContext;
  const asked: unknown[] = [];
  const upstreams: UpstreamClient = {
    begin(_upstream, _request, _timeoutMs, handler, mayStart) {
      asked.push(mayStart);
      const times = { connectionWaitMs: 0, upstreamMs: 0 };
      handler.failed({ name: 'key_lease_ended', sent: false }, times);
      return { cancel: () => undefined };
    },
    poolLimits: () => ({ maxPending: 1, maxConnections: 1 }),
    inFlight: () => 0,
  };
  const balancer = {
    choose: () => 0,
    begin: () => 0,
    ended: () => undefined,
    hasOther: () => true,
  };
  const options = {
    upstreams,
    balancers: { of: () => balancer },
    clock: systemClock,
    random: Math.random,
  } as unknown as ForwardingOptions;
  const route = {
    settings: { regions: [], retry_count: 3 },
    retry: {},
  } as unknown as CompiledRoute;
  const service = {
    id: 's',
    upstreams: [{ id: 'u', basePath: '' }],
    limits: { adaptive: false },
  } as unknown as CompiledService;
  const budget = { liveRetries: 0 } as unknown as RetryBudget;

  const errors: unknown[] = [];
  const receiver = {
    hints: () => undefined,
    responded: () => undefined,
    expired: () => undefined,
    failed: (error: unknown) => void errors.push(error),
  };
  new Forwarding(ctx, route, service, budget, options, undefined, receiver).start();
  expect(errors).toMatchObject([
    {
      code: 'upstream_unavailable',
      message: expect.stringContaining('Nothing was sent'),
    },
  ]);
  expect(asked).toEqual([holdsKey]);
  expect(ctx.attempts).toMatchObject([
    { error: 'key_lease_ended', retry: { retried: false, why: 'key_lease_ended' } },
  ]);
  expect(ctx.mayHaveSent).toBe(false);
});
