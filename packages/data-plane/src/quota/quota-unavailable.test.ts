import { expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { idle, openModelStore } from '../../test/quota/model-store.ts';

const opened = closeAfterEach();

it('a request is refused with 503, and not sent, while NATS is away and the route has on_store_unavailable: refuse', async () => {
  const upstream = opened(await startUpstream());
  const { store: quotas, ledger, clock: manual } = openModelStore({ shares: true });
  // At the start or end of a window a request would wait for a time that the manual clock does not reach.
  const clock = { ...systemClock, nowMs: () => manual.nowMs() };
  ledger.cutOff(0);
  const rate_limit = { limit: 100, window_seconds: 60, per: 'route' as const };
  const start = async (on_store_unavailable: 'share' | 'refuse') =>
    opened(
      await startTestDataPath(
        { upstreams: [upstream.url], rate_limit: { ...rate_limit, on_store_unavailable } },
        { quotas, clock },
      ),
    );
  const refusing = await start('refuse');
  const refused = await refusing.call('test');
  expect(refused.headers.get('retry-after')).toBe('1');
  await expectRefusal(refused, 503, 'quota_unavailable');
  expect(await refusing.recordOf(refused)).toMatchObject({ status: 503, attempts: [] });
  expect(upstream.seen).toHaveLength(0);
  expect((await (await start('share')).call('test')).status).toBe(200);
  await idle();
});

it('a request waits for a lease, and is not refused, from when a data plane has read that its place in the fleet is lost', async () => {
  // It has no reserve.
  const { store, ledger, take, settled, clock } = openModelStore({
    nodes: 2,
    shares: true,
    allTo: 1,
  });
  ledger.cutOff(0);
  expect(await take()).toMatchObject({ granted: false, unavailable: true });
  // NATS is connected, but does not answer for long.
  ledger.reconnect(0);
  clock.advance(10_000);
  await idle();
  expect(store.leasing).toBe(false);
  store.shareChanged(undefined);
  expect(await settled(take())).toMatchObject({ granted: true });
});

it('a new caller is refused with 503, and told why, while NATS stores no more callers of a route with on_store_unavailable: refuse', async () => {
  const upstream = opened(await startUpstream());
  const { store: quotas, ledger, clock: manual, settle } = openModelStore({ shares: true });
  const clock = { ...systemClock, nowMs: () => manual.nowMs() };
  ledger.full = true;
  const start = async (on_store_unavailable: 'share' | 'refuse') => {
    const rate_limit = { limit: 100, window_seconds: 60, per: 'ip' as const, on_store_unavailable };
    const route = { upstreams: [upstream.url], rate_limit };
    return opened(await startTestDataPath(route, { quotas, clock }));
  };
  const call = async (to: Awaited<ReturnType<typeof start>>) => {
    const answer = to.call('test');
    await eventually(() => expect(ledger.pending).toBe(1));
    await settle();
    return answer;
  };
  const refused = await call(await start('refuse'));
  expect(refused.headers.get('retry-after')).toBe('1');
  const { message } = await expectRefusal(refused, 503, 'quota_unavailable');
  expect(message).toContain('because the bucket is nearly full');
  expect(upstream.seen).toHaveLength(0);
  ledger.full = false;
  manual.advance(5000);
  expect((await call(await start('share'))).status).toBe(200);
});
