import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { UndoList } from '@gateway/shared/test/undo-list';
import { startPacedLoad } from './paced-load.ts';

const opened = closeAfterEach();
const TURN = { perSecond: 1000, seconds: 0.05 };

async function startLoad(url: string, { signal } = new AbortController(), further = {}) {
  const undo = new UndoList();
  const close = opened({ close: () => undo.run() });
  const run = { signal, defer: (step: () => unknown) => undo.add(step) };
  const load = await startPacedLoad(run, {
    urls: [url],
    authorization: 'Bearer token',
    ...further,
  });
  return { ...load, ...close };
}

describe('startPacedLoad', () => {
  it('counts the requests of a turn and the outcomes of the bad ones, alone or with those before', async () => {
    let requests = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        requests += 1;
        if (requests % 10 === 7) response.writeHead(503, { 'x-gateway-error': 'busy' });
        response.end(requests === 18 ? undefined : 'ok');
      }),
    );
    const load = await startLoad(upstream.url);
    await load.run({ ...TURN, perSecond: 100 });
    const measured = await load.run({ ...TURN, warmUpSeconds: 0.01 });
    expect(requests).toBe(65);
    expect(measured).toMatchObject({ requests: 50, failed: 5, failures: { '503 busy': 5 } });
    expect(measured.p50Ms).toBeGreaterThan(0);
    expect(measured.maxMs).toBeGreaterThanOrEqual(measured.p99Ms);
    expect(await load.run({ ...TURN, adds: true })).toMatchObject({ requests: 100, failed: 10 });
  });

  it('counts callers that leave at their deadline, and takes a new connection for the next', async () => {
    const { url } = opened(await startRawUpstream(() => undefined));
    const load = await startLoad(url, new AbortController(), { deadlineMs: 20, maxConnections: 2 });
    const measured = await load.run({ perSecond: 100, seconds: 0.05 });
    expect(measured).toMatchObject({ requests: 5, failures: { left: 5 }, p50Ms: NaN });
  });

  it('ends with the run, also if nothing answers', async () => {
    const run = new AbortController();
    const { url } = opened(await startRawUpstream(() => run.abort(new Error('interrupted'))));
    const load = await startLoad(url, run);
    await expect(load.run(TURN)).rejects.toThrow('interrupted');
  });

  it('rejects when its process ends', async () => {
    const { url } = opened(await startRawUpstream(() => void load.close()));
    const load = await startLoad(url);
    await expect(load.run(TURN)).rejects.toThrow('a process has ended');
  });
});
