import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import type { RequestRecord } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/test/eventually';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl, type Running } from '../../../../test/run-gwctl.ts';

/** Passes calls on, or answers 502 while the gateway is away. */
function startProxy(target: () => string, isAway: () => boolean): Server {
  return createServer((incoming, outgoing) => {
    if (isAway()) {
      outgoing.writeHead(502).end();
      return;
    }
    const { method, headers, url } = incoming;
    const call = request(target() + (url ?? ''), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    call.on('error', () => outgoing.destroy());
    incoming.pipe(call);
  });
}

describe('gwctl requests tail', () => {
  let api: TestApi;
  let proxy: Server;
  let gwctl: Gwctl;
  let isAway = false;
  let ageMs = 3_600_000;
  beforeAll(async () => {
    api = await startTestApi();
    proxy = startProxy(
      () => api.url,
      () => isAway,
    );
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    gwctl = openGwctl({ GATEWAY_URL: url, GATEWAY_TOKEN: api.adminToken });
  });
  afterAll(async () => {
    gwctl.remove();
    proxy.closeAllConnections();
    proxy.close();
    await api.close();
  });

  /** Stores a record of a request that began after those of before. */
  async function store(changes: Partial<RequestRecord> = {}): Promise<string> {
    ageMs -= 1000;
    const record = requestRecord(api.clock.nowMs() - ageMs, changes);
    await insertRecords(api.db, [storableRecord(record)]);
    return record.id;
  }
  const idsIn = (text: string) => text.match(/req_[0-9a-z]{26}/g) ?? [];
  const shows = (running: Running, ids: readonly string[]) =>
    eventually(() => expect(idsIn(running.stdout())).toEqual(ids));

  it('shows the last requests and ends; with -f new ones once each, until ^C', async () => {
    const first = [await store(), await store(), await store()];
    const ran = await gwctl.run(['requests', 'tail', '-n', '2']);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/^TIME +STATUS +OUTCOME/);
    expect(idsIn(ran.stdout)).toEqual(first.slice(1));
    const running = gwctl.start(['requests', 'tail', '-f', '-n', '1']);
    await shows(running, first.slice(2));
    const second = [await store(), await store()];
    await shows(running, [...first.slice(2), ...second]);
    isAway = true;
    await eventually(() => expect(running.stderr()).toContain('Trying again: '));
    const during = await store();
    isAway = false;
    await shows(running, [...first.slice(2), ...second, during]);
    running.pressCtrlC();
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^Trying again: The response of \S+ has the status 502, and is not one of the gateway\.\nThe gateway is back\.\n\n$/,
    );
    expect(stdout.split('\n').filter((line) => line.startsWith('TIME'))).toHaveLength(1);
  });

  it('filters as the list does, a class of statuses too, and prints NDJSON', async () => {
    const filter = '--route other --status 5xx'.split(' ');
    const running = gwctl.start(['requests', 'tail', '-f', '-o', 'json', ...filter]);
    await store({ route: 'other' });
    const failed = await store({ route: 'other', status: 503, outcome: 'upstream_error' });
    await store({ status: 503, outcome: 'upstream_error' });
    const last = await store({ route: 'other', status: 500, outcome: 'upstream_error' });
    await shows(running, [failed, last]);
    running.pressCtrlC();
    const { stdout } = await running.ended;
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([
      503, 500,
    ]);
    const listed = await gwctl.run(['requests', 'list', '--status', '5xx', '--route', 'other']);
    expect(idsIn(listed.stdout)).toEqual([last, failed]);
    const yaml = await gwctl.run(['requests', 'tail', '-o', 'yaml', '--since', '2d', ...filter]);
    expect(yaml.stdout.match(/^---$/gm)).toHaveLength(2);
  });

  it.each([
    ['an unknown status', ['--status', '6xx'], 3, 'a class such as 5xx'],
    ['an unknown outcome', ['-f', '--outcome', 'fine'], 1, '  outcome: '],
    ['an unknown token', ['-f', '--token', 'nobody'], 1, 'there is no token nobody'],
  ])('%s ends with a clear error', async (_what, args, code, message) => {
    const ran = await gwctl.run(['requests', 'tail', ...args]);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toContain(message);
  });
});
