import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { ANSWER } from '../load/answer.ts';
import { startPacedLoad } from './paced-load.ts';

const opened = closeAfterEach();
const TURN = { perSecond: 1000, seconds: 0.05, counts: true };

async function startLoad(url: string, { signal } = new AbortController()) {
  const load = await startPacedLoad({ url, authorization: 'Bearer token' }, signal);
  return opened({ ...load, close: load.stop });
}

describe('startPacedLoad', () => {
  it('sends all requests of a turn and counts the bad responses', async () => {
    let requests = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        requests += 1;
        const status = requests === 7 ? 503 : 200;
        response.writeHead(status, { 'content-length': ANSWER.length }).end(ANSWER);
      }),
    );
    const load = await startLoad(upstream.url);
    await load.run({ ...TURN, perSecond: 100, counts: false });
    const measured = await load.run(TURN);
    expect(requests).toBe(55);
    expect(measured).toMatchObject({ requests: 49, failed: 1 });
    expect(measured.p50Ms).toBeGreaterThan(0);
    expect(measured.maxMs).toBeGreaterThanOrEqual(measured.p99Ms);
  });

  it('ends with the run, also if nothing answers', async () => {
    const run = new AbortController();
    const { url } = opened(await startRawUpstream(() => run.abort(new Error('interrupted'))));
    const load = await startLoad(url, run);
    await expect(load.run(TURN)).rejects.toThrow('interrupted');
  });

  it('rejects when its process ends', async () => {
    const { url } = opened(await startRawUpstream(() => void load.stop()));
    const load = await startLoad(url);
    await expect(load.run(TURN)).rejects.toThrow('a process has ended');
  });
});
