import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runInProcess } from '../../test/run-in-process.ts';
import type { Terminal } from './terminal.ts';

/** Another screen, without wrapped lines: each line of a frame is one of the screen. */
const ENTER = '\u001b[?1049h\u001b[?7l\u001b[H';
const LEAVE = '\u001b[?7h\u001b[?1049l';

describe('--watch', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  /** Runs a command in a terminal; ^C is pressed in the pause after the last of these steps. */
  function watch(
    line: string,
    { steps = [], ...fields }: Partial<Terminal> & { steps?: (() => Promise<unknown>)[] } = {},
  ) {
    const interrupted = new AbortController();
    const left = [...steps];
    return runInProcess(line.split(' '), {
      env: { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken },
      stdoutIsTerminal: true,
      interrupted: () => interrupted.signal,
      async pause() {
        const step = left.shift();
        if (step === undefined) interrupted.abort();
        else await step();
      },
      ...fields,
    });
  }
  /** What stood on the screen, one screen after the other, and what stays. */
  function screensOf(stdout: string) {
    const [screens = '', stays] = stdout.split(LEAVE);
    expect(screens.startsWith(ENTER)).toBe(true);
    const shown = screens.slice(ENTER.length).split('\u001b[H');
    return {
      screens: shown.map((one) => one.replaceAll('\u001b[K', '').replaceAll('\u001b[J', '')),
      stays,
    };
  }
  const create = (name: string) => () =>
    api.call('POST', '/v1/services', {
      body: { name, environment: 'production', url: 'http://127.0.0.1:9' },
    });

  it('shows a command again in place of what it showed before, and leaves the last of it at ^C', async () => {
    const line = 'services list -w --environment production';
    const ran = await watch(line, { steps: [create('pay'), create('ship')] });
    expect([ran.code, ran.stderr]).toEqual([130, '']);
    const { screens, stays } = screensOf(ran.stdout);
    expect(screens).toEqual([
      `Every 2 s: gwctl ${line}  00:00:00Z\n\nThere are no services in production.\n`,
      expect.stringMatching(/00Z\n\nNAME .*\npay .*\n$/),
      expect.stringMatching(/00Z\n\nNAME .*\n(pay|ship) .*\n(pay|ship) .*\n$/),
    ]);
    expect(screens[2]?.endsWith(stays ?? '-')).toBe(true);
  });

  it('continues while the gateway is away', async () => {
    const away = { GATEWAY_URL: 'http://127.0.0.1:1', GATEWAY_TOKEN: 'none' };
    const ran = await watch('data-planes --watch', {
      env: away,
      steps: [() => Promise.resolve()],
    });
    expect(ran.code).toBe(130);
    const { screens } = screensOf(ran.stdout);
    expect(screens).toHaveLength(2);
    expect(screens[1]).toContain('/v1/data-planes?limit=200 failed: ');
  });

  it.each([
    ['as long as the gateway asks', { 'retry-after': '120' }, '2 min 0 s', 120_000],
    ['until the window ends', { 'x-ratelimit-reset': '45' }, '45 s', 45_000],
    ['ten minutes for a day', { 'retry-after': '86400' }, '10 min 0 s', 600_000],
  ])('waits after 429 %s, and goes on', async (_what, headers, said, delayMs) => {
    const busy = { code: 'rate_limit_exceeded', message: 'Too many.', request_id: 'req_1' };
    let calls = 0;
    const server = createServer((_request, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(429, headers).end(JSON.stringify({ error: busy }));
      else response.end(JSON.stringify({ data: [], next_cursor: null, request_id: 'req_2' }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const delays: number[] = [];
    const interrupted = new AbortController();
    const ran = await runInProcess(['data-planes', '-w'], {
      env: { GATEWAY_URL: `http://127.0.0.1:${port}`, GATEWAY_TOKEN: 'none' },
      stdoutIsTerminal: true,
      interrupted: () => interrupted.signal,
      pause(waitMs) {
        if (delays.push(waitMs) === 2) interrupted.abort();
        return Promise.resolve();
      },
    });
    server.closeAllConnections();
    await once(server.close(), 'close');
    const { screens } = screensOf(ran.stdout);
    expect(screens[0]).toContain('gwctl: Too many. (429 rate_limit_exceeded)\n');
    expect(screens[0]).toContain(`\nWaiting ${said}, as the gateway asks.\n`);
    expect(screens[1]).toContain('There are no data planes.');
    expect(screens[1]).not.toContain('Waiting');
    expect([ran.code, delays]).toEqual([130, [delayMs, 2000]]);
  });

  it('ends if the command is wrong, and says why', async () => {
    const ran = await watch('services health nope -w');
    expect([ran.code, ran.stdout]).toEqual([1, ENTER.replace('\u001b[H', '') + LEAVE]);
    expect(ran.stderr).toContain('gwctl: there is no service nope');
  });

  it('cuts what the terminal has no room for', async () => {
    const ran = await watch('status -w --environment production', { rows: 5 });
    const [screen = ''] = screensOf(ran.stdout).screens;
    expect(screen).toMatch(/^Every 2 s:.*\n\n.*\n… and \d+ more lines\n$/);
  });

  it('ends a call at ^C, and says nothing of it', async () => {
    const interrupted = new AbortController();
    const ran = await runInProcess(['status', '-w'], {
      env: { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken },
      stdoutIsTerminal: true,
      interrupted: () => interrupted.signal,
      nowMs() {
        interrupted.abort();
        return 0;
      },
    });
    expect([ran.code, ran.stderr]).toEqual([130, '']);
    expect(ran.stdout).toBe(ENTER.replace('\u001b[H', '') + LEAVE);
  });

  it('is refused in a pipe', async () => {
    const ran = await watch('stats -w', { stdoutIsTerminal: false });
    expect([ran.code, ran.stdout]).toEqual([3, '']);
    expect(ran.stderr).toContain('--watch needs a terminal');
  });
});
