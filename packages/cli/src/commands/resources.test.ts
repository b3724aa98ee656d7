import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl, type RunOptions } from '../../test/run-gwctl.ts';

type Fields = Record<string, unknown>;

const UPSTREAM = 'http://127.0.0.1:9';
const CREDENTIAL = 'upstream-secret-1';

describe('gwctl on resources', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });

  const run = (line: string, options?: RunOptions) => gwctl.run(line.split(' '), options);
  /** Runs a command that succeeds, and returns its output. */
  async function text(line: string, options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await run(line, options);
    if (code !== 0) throw new Error(`gwctl ${line}: exit code ${code}: ${stderr}`);
    return stdout;
  }
  const json = async <T = Fields>(line: string, options?: RunOptions) =>
    JSON.parse(await text(`${line} -o json`, options)) as T;
  const names = async (line: string) =>
    (await json<{ name: string }[]>(line)).map(({ name }) => name);

  it('names each wrong field once', async () => {
    const { code, stderr } = await run(
      'routes create Wrong! --timeout-ms 0 --set retry_count=-1 --set respond.status=1',
    );
    const lines = stderr.trimEnd().split('\n');
    expect([code, lines.shift()]).toEqual([
      1,
      'gwctl: The request is not valid. (400 invalid_request)',
    ]);
    expect(lines.map((line) => line.split(': ')[0])).toEqual([
      '  name',
      '  respond.status',
      '  --timeout-ms',
      '  retry_count',
      '  request id',
    ]);
  });

  it('creates, shows, changes and deletes services and routes by name', async () => {
    const stdin = `credential: {type: bearer, token: ${CREDENTIAL}}`;
    const created = await text(
      `services create pay --environment production --url ${UPSTREAM} -f -`,
      { stdin },
    );
    expect(created).toMatch(/^name +pay$/m);
    expect(created).not.toContain(CREDENTIAL);
    await text('routes create charges --service pay --timeout-ms 5000 --set rate_limit.limit=100');
    const changed = await json(
      'routes update charges --set rate_limit.per=token --methods GET,PUT',
    );
    expect(changed).toMatchObject({ timeout_ms: 5000, methods: ['GET', 'PUT'] });
    expect(changed['rate_limit']).toMatchObject({ limit: 100, per: 'token' });
    expect(await json(`routes get ${String(changed['id'])}`)).toEqual(changed);
    expect(await text('routes list')).toMatch(
      /^NAME +ENVIRONMENT +STATUS .*\ncharges +production +active +pay +.*100 per token in 1 min\n$/,
    );
    expect(await text('routes list -o wide')).toMatch(/ SERVICE ID .*\n.* svc_\w+ /);
    expect(await text('routes list -o name')).toBe('charges\n');
    expect(await text('routes ls -o jsonpath=$[*].timeout_ms')).toBe('5000\n');
    expect(await text('route get charges')).toMatch(/^service +pay$/m);
    expect(await text('routes get charges -o wide')).toMatch(/^service +pay \(svc_\w+\)$/m);
    expect(await names('routes list --search harg --status active --service pay')).toEqual([
      'charges',
    ]);
    expect(await names('routes list --status disabled')).toEqual([]);
    expect(await names('routes list --search nothing')).toEqual([]);
    expect(await text('services list -o wide')).toMatch(/ ID +REVISION +UPDATED\n/);
    expect(await text('services health pay')).toContain('no data plane is live');
    const row = await api.db
      .selectFrom('services')
      .select(['id', 'upstreams'])
      .executeTakeFirstOrThrow();
    const upstream = row.upstreams[0]?.id ?? '';
    const cause = { reason: 'consecutive_failures', detail: 'reset', failures: 5 };
    const beat = heartbeatOf('dp-1', {
      region: 'eu',
      services: { [row.id]: [0, 1, 0] },
      upstream_states: [[upstream, 'ejected']],
      upstream_reasons: [{ id: upstream, since_ms: Date.UTC(2029, 0, 1), ...cause }],
      overloaded_services: [row.id],
    });
    api.dataPlanes.take(beat, api.clock.monotonicMs());
    const health = await text('services health pay');
    expect(health).toMatch(
      / dp-1 \(eu\) +ejected +since 2029-01-01T00:00:00.000Z: 5 of 5 requests failed, the last with reset\n/,
    );
    expect(health).toContain('refuses requests at a limit of the service');
    const used = await run('services delete pay --yes');
    expect([used.code, used.stdout]).toEqual([1, '']);
    expect(used.stderr).toMatch(/\(409 service_in_use\)\n {2}request id: req_/);
    const deleted = await run('routes delete charges --yes');
    expect(deleted).toEqual({ code: 0, stdout: '', stderr: 'Route charges is deleted.\n' });
    await text('services delete pay --yes');
    expect(await names('services list')).toEqual([]);
  });

  it.each([
    ['off', { enabled: false, sample_ratio: 0.5 }],
    ['0.1', { enabled: true, sample_ratio: 0.1 }],
    ['on', { enabled: true, sample_ratio: 1 }],
  ])('changes which requests of a route are logged: %s', async (share, expected) => {
    await text(`services create logged --environment production --url ${UPSTREAM}`);
    const created = await json('routes create logged --service logged --access-log 0.5');
    expect(created['access_log']).toEqual({ enabled: true, sample_ratio: 0.5 });
    const changed = await json(`routes update logged --access-log ${share}`);
    expect(changed['access_log']).toEqual(expected);
    await text('routes delete logged --yes');
    await text('services delete logged --yes');
  });

  it('asks for the environment if two resources share a name', async () => {
    for (const environment of ['production', 'development']) {
      await text(`services create twin --environment ${environment} --url ${UPSTREAM}`);
    }
    const both = await run('services get twin');
    expect(both.code).toBe(3);
    expect(both.stderr).toBe(
      'gwctl: there are 2 of the name twin: --environment development, --environment production\n',
    );
    const one = await json('services get twin --environment development');
    expect(one['environment']).toBe('development');
    expect(await names('services list --environment development')).toEqual(['twin']);
  });

  it.each([
    ['an unknown resource', 'services get nobody', 1, 'there is no service nobody'],
    ['an unknown id', 'routes get rte_01kb5zv4x8n3m6q9r2t7w0y1z4', 1, '(404 route_not_found)'],
    ['a field that the API refuses', 'environments create No', 1, '  name: '],
    ['an unknown field', `services create x --url ${UPSTREAM} --set colour=red`, 1, 'colour'],
    [
      'an invalid number',
      'routes update x --timeout-ms soon',
      3,
      'It must be a time from 1 ms to 5 min, such as 500ms or 1m.',
    ],
    ['an invalid share', 'routes update x --access-log some', 3, 'on, off, or a number from'],
    ['a share above 1', 'routes update x --access-log 5', 3, 'on, off, or a number from'],
    ['a share below 0', 'routes update x --access-log=-1', 3, 'on, off, or a number from'],
    ['a secret as an argument', 'services create x --set credential=1', 3, 'which is a secret'],
    [
      'a secret within an argument',
      'services create x --set tls={client_certificate:{key_pem:1}}',
      3,
      'tls.client_certificate, which is a secret',
    ],
    ['a setting without a value', 'services create x --set url', 3, '--set must be FIELD=VALUE'],
    ['no field', 'services create x --set __proto__.url=y', 3, '--set must be FIELD=VALUE'],
    ['a missing file', 'services create x -f nowhere.yaml', 3, 'nowhere.yaml is not a file'],
    ['a route without a target', 'routes create x', 3, '--service is required, or versions'],
    ['a service without a URL', 'services create x', 3, '--url is required, or upstreams'],
    ['no change', 'services update twin --environment production', 3, 'nothing to change'],
    ['a missing argument', 'services get', 3, "missing required argument 'service'"],
    ['no environment', 'versions', 3, 'name the environment with --environment'],
    ['a token without scopes', 'tokens create x', 3, "required option '--scopes <scopes>'"],
  ])('%s ends with a clear error', async (_what, line, code, message) => {
    const ran = await run(line);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toContain(message);
  });

  it('names the line and the column of wrong YAML', async () => {
    const ran = await run('services create x -f -', { stdin: 'url: x\nlimits: {a: [1}\n' });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/^gwctl: stdin:2:\d+: /);
  });

  it('prints the secret of a token once, on stdout only', async () => {
    const line =
      'tokens create reader --scopes routes:read --environments production --expires-at 2099-01-01T00:00:00Z';
    const created = await run(`${line} -o json`);
    const { secret, id } = JSON.parse(created.stdout) as { secret: string; id: string };
    expect(secret).toMatch(/^gwt_/);
    expect(created.stderr).toBe('The secret is shown only now. Store it.\n');
    const rotated = await json<{ secret: string }>('tokens rotate reader --grace-seconds 0 --yes');
    expect(rotated.secret).not.toBe(secret);
    // Its begin alone is shown.
    expect(await text('tokens list -o yaml')).not.toMatch(/gwt_[\w-]{5}/);
    const updated = await json('tokens update reader --expires-at never --name auditor');
    expect(updated).toMatchObject({ id, name: 'auditor', expires_at: null });

    const env = { GATEWAY_TOKEN: rotated.secret };
    expect(await text('routes list', { env })).toMatch(/^NAME /);
    const refused = await run('environments create mine', { env });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(
      /^gwctl: The token lacks the scope config:write\. \(401 authentication_failed\)\n {2}request id: \S+\n$/,
    );
    await text('tokens delete auditor --yes');
    const revoked = await run('routes list', { env });
    expect([revoked.code, revoked.stdout]).toEqual([4, '']);
  });

  it('means the token of its environment where tokens share a name, and names all where it cannot tell', async () => {
    const make = (environment: string) =>
      json<{ id: string }>(`tokens create shared --scopes proxy --environments ${environment}`);
    const here = await make('production');
    const there = await make('development');
    expect(await json('tokens get shared --environment development')).toMatchObject({
      id: there.id,
    });
    const asked = await run('tokens delete shared');
    expect(asked.code).toBe(3);
    expect(asked.stderr).toContain(`${here.id} (production)`);
    expect(asked.stderr).toContain(`${there.id} (development)`);
  });

  it('creates and deletes environments, and restores a version', async () => {
    await text('environments create staging');
    await text(`services create first --environment staging --url ${UPSTREAM}`);
    const version = await api.publish('staging');
    await text(`services create second --environment staging --url ${UPSTREAM}`);
    await api.publish('staging');
    expect(await text('versions --environment staging')).toMatch(/^VERSION +CURRENT .*\n2 +\* /);
    const outdated = await run(
      `rollback ${version} --yes --if-version ${version} --environment staging`,
    );
    expect([outdated.code, outdated.stderr]).toEqual([1, expect.stringContaining('412')]);
    const rollback = `rollback ${version} --yes --if-version ${version + 1} --environment staging`;
    const restored = await json(rollback);
    expect(restored).toMatchObject({ restored_version: version, services: { deleted: 1 } });
    expect(await names('services list --environment staging')).toEqual(['first']);
    const full = await run('environments delete staging --yes');
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('environment_in_use')]);
    await text('services delete first --environment staging --yes');
    await text('environments delete staging --yes');
    expect(await names('environments list')).toEqual(['development', 'production']);
  });

  it('lists data planes and audit events', async () => {
    const beat = heartbeatOf('dp-1', { config_versions: { production: 1 } });
    api.dataPlanes.take(beat, api.clock.monotonicMs());
    expect(await text('data-planes')).toMatch(/\ndp-1 +\S+ +live /);
    expect(await text('nodes')).toMatch(/\ndp-1 +\S+ +live /);
    expect(await text('data-planes')).toMatch(/\ndp-1 +eu +live +0 +- +- +development none/);
    const use = {
      process_cpu_ratio: 0.4213,
      process_resident_memory_bytes: 222_298_112,
      memory_limit_bytes: 536_870_912,
      event_loop_delay_ms: 6,
    };
    api.dataPlanes.take({ ...beat, ...use }, api.clock.monotonicMs());
    expect(await text('data-planes')).toMatch(
      /\ndp-1 +eu +live +0 +42 % +212 MiB +development none/,
    );
    expect(await text('data-planes -o wide')).toMatch(/ 42 % +212 MiB .* 512 MiB +6 ms +1\.2\.3 /);
    expect(await json<Fields[]>('data-planes')).toMatchObject([{ id: 'dp-1', ...use }]);
    const events = await json<Fields[]>('audit --action environment.deleted --limit 1');
    expect(events).toMatchObject([{ resource_id: 'staging' }]);
    expect(await text('audit --token admin --since 2020-01-01 --limit 3')).toMatch(
      /^TIME +ACTION /,
    );
  });
});
