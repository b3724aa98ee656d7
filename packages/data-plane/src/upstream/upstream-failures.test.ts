import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const NOT_FOUND = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });

describe('an upstream that fails', () => {
  it('that refuses the connection: 502', async () => {
    const port = await closedPort();
    const gateway = opened(
      await startTestDataPath({ upstreams: [`http://127.0.0.1:${port}`], retry_count: 0 }),
    );
    const response = await gateway.call('test', { method: 'POST', body: 'x' });
    const error = await expectRefusal(response, 502, 'upstream_unavailable');
    expect(error.message).not.toContain(String(port));
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'upstream_unavailable',
      retry_count: 0,
      upstream: { id: 'ups_0', url: `http://127.0.0.1:${port}` },
      attempts: [{ upstream: 'ups_0', error: 'connect_refused' }],
    });
  });

  it('whose name does not resolve: 502', async () => {
    const gateway = opened(
      await startTestDataPath(
        { upstreams: ['http://nowhere.invalid'], retry_count: 0 },
        {
          resolve: (_name, _options, callback) => void setImmediate(() => callback(NOT_FOUND, [])),
        },
      ),
    );
    const response = await gateway.call('test');
    await expectRefusal(response, 502, 'upstream_unavailable');
    expect(await gateway.recordOf(response)).toMatchObject({
      attempts: [{ error: 'name_not_found' }],
    });
  });

  it.each([
    ['closes', (socket: { end(): unknown }) => socket.end()],
    ['resets', (socket: { resetAndDestroy(): unknown }) => socket.resetAndDestroy()],
  ])(
    'that %s the connection before the response: 502, and a POST is not retried',
    async (_how, end) => {
      let arrivals = 0;
      const upstream = opened(
        await startRawUpstream((socket) => {
          socket.once('data', () => {
            arrivals += 1;
            end(socket);
          });
        }),
      );
      const gateway = opened(
        await startTestDataPath({ upstreams: [upstream.url], retry_count: 5 }),
      );
      const response = await gateway.call('test', { method: 'POST', body: 'x' });
      await expectRefusal(response, 502, 'upstream_unavailable');
      expect(arrivals).toBe(1);
      expect(await gateway.recordOf(response)).toMatchObject({
        outcome: 'upstream_unavailable',
        attempts: [{ error: 'reset' }],
      });
    },
  );

  it('that never responds: 504 after timeout_ms, and its connection is closed', async () => {
    let cut = 0;
    const upstream = opened(
      await startRawUpstream((socket) => socket.once('close', () => (cut += 1)).resume()),
    );
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], timeout_ms: 400, retry_count: 5 }),
    );
    const response = await gateway.call('test');
    await expectRefusal(response, 504, 'upstream_timeout');
    const record = await gateway.recordOf(response);
    expect(record).toMatchObject({ outcome: 'timeout', attempts: [{ error: 'attempt_timeout' }] });
    expect(record.timing.upstream_ms).toBeGreaterThanOrEqual(300);
    expect(record.timing.total_ms).toBeGreaterThanOrEqual(390);
    await eventually(() => expect(cut).toBe(1));
    expect(await gateway.inFlight()).toBe(0);
  });

  it('that sends an endless head: 504', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nX-Slow:'));
      }),
    );
    const gateway = opened(
      await startTestDataPath({ upstreams: [upstream.url], timeout_ms: 120, retry_count: 0 }),
    );
    await expectRefusal(await gateway.call('test'), 504, 'upstream_timeout');
  });

  it('that sends its body slowly may take as long as it needs while some of it arrives', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        let left = 8;
        response.write('.');
        const timer = setInterval(() => {
          left -= 1;
          if (left > 0) response.write('.');
          else {
            clearInterval(timer);
            response.end('!');
          }
        }, 120);
      }),
    );
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [upstream.url], timeout_ms: 600 },
        { environment: { BODY_IDLE_TIMEOUT_MS: '700' } },
      ),
    );
    const response = await gateway.call('test');
    expect(await response.text()).toBe('........!');
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'success' });
  });

  it('that takes too long for one attempt: another one is tried within the deadline', async () => {
    let arrivals = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        arrivals += 1;
        if (arrivals > 1) response.end('second');
      }),
    );
    const retry = {
      on_statuses: [],
      per_attempt_timeout_ms: 500,
      backoff_ms: 0,
      unsafe_methods: 'never' as const,
    };
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry }));
    const response = await gateway.call('test');
    expect(await response.text()).toBe('second');
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'success',
      retry_count: 1,
      attempts: [{ error: 'attempt_timeout' }, { status: 200 }],
    });
  });
});
