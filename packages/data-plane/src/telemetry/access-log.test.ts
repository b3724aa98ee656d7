import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { isLogged } from './request-log.ts';

const opened = closeAfterEach();

/** The ids of the requests that were sent, and of those that have a line after the stop, which writes all lines. */
async function logged(
  accessLog: { readonly enabled: boolean; readonly sample_ratio: number },
  { status = 200, environment = {}, path = 'test' } = {},
) {
  const upstream = opened(
    await startUpstream((_seen, response) => void response.writeHead(status).end()),
  );
  const options: TestDataPathOptions = { environment };
  const route = { upstreams: [upstream.url], access_log: accessLog, retry_count: 0 };
  const gateway = await startTestDataPath(route, options);
  const ids: (string | null)[] = [];
  for (let sent = 0; sent < 60; sent += 1) {
    const response = await gateway.call(path);
    await response.text();
    ids.push(response.headers.get('x-request-id'));
  }
  await gateway.stop();
  expect(gateway.records).toHaveLength(60);
  const lines = gateway.logLines.filter((line) => line.includes('"body":"request"'));
  return { ids, lines: lines.map((line) => /"gateway.request.id":"(\w+)"/.exec(line)?.[1]) };
}

describe('the log of requests', () => {
  it('has a line for each request by default', async () => {
    const { ids, lines } = await logged({ enabled: true, sample_ratio: 1 });
    expect(lines).toEqual(ids);
  });

  it('has none of a route that turns it off, failures included; records are complete', async () => {
    const { lines } = await logged({ enabled: false, sample_ratio: 1 }, { status: 500 });
    expect(lines).toEqual([]);
  });

  it('has a share of the requests of a route that samples it', async () => {
    const { ids, lines } = await logged({ enabled: true, sample_ratio: 0.5 });
    // Outside of these bounds once in 10^12 runs.
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.length).toBeLessThan(57);
    expect(ids).toEqual(expect.arrayContaining(lines));
  });

  it('has each failure of a route that samples it', async () => {
    const { ids, lines } = await logged({ enabled: true, sample_ratio: 0 }, { status: 502 });
    expect(lines).toEqual(ids);
  });

  it('has requests without a route, whatever routes say', async () => {
    const off = { enabled: false, sample_ratio: 0 };
    const { ids, lines } = await logged(off, { path: 'unknown' });
    expect(lines).toEqual(ids);
  });

  it('has nothing if ACCESS_LOG is off', async () => {
    const on = { enabled: true, sample_ratio: 1 };
    const { lines } = await logged(on, { environment: { ACCESS_LOG: 'off' }, status: 500 });
    expect(lines).toEqual([]);
  });
});

describe('a request of a sampled route', () => {
  it.each([
    [0.25, 0.249, 'success', true],
    [0.25, 0.25, 'success', false],
    [0.25, 0.9, 'rejected', false],
    [0.25, 0.9, 'client_aborted', false],
    [0.25, 0.9, 'timeout', true],
    [0, 0, 'success', false],
    [1, 0.999, 'success', true],
  ] as const)('ratio %d, random number %d, %s: %s', (ratio, random, outcome, line) => {
    const policy = { enabled: true, sample_ratio: ratio };
    expect(isLogged(policy, outcome, () => random)).toBe(line);
  });
});
