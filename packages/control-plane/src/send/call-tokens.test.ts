import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { isTokenSecret } from '@gateway/shared/tokens/secret';
import { sql } from 'kysely';
import type { Fields } from '../../test/api.ts';
import { codeOf, startSendWorld, type SendWorld } from '../../test/send-world.ts';
import { CALL_TOKEN_MS, TOKEN_WAIT_MS } from './call-tokens.ts';

const MINUTE_MS = 60_000;

describe('the token of ten minutes', () => {
  let world: SendWorld;
  let stopServing: () => Promise<void>;
  beforeEach(async () => {
    world = await startSendWorld();
    stopServing = await world.serveChanges();
  });
  afterEach(async () => {
    await stopServing();
    await world.close();
  });

  const sentSecret = () =>
    /^Bearer (.*)$/.exec(world.dataPlane.seen.at(-1)?.headers.authorization ?? '')?.[1];
  const minted = async (cookie: string, body: object = {}) => {
    const answer = await world.send(cookie, { token: 'minted', ...body });
    expect(answer.status).toBe(200);
    return answer.json.data?.['token'] as { id: string; name: string; expires_at: string };
  };
  const listed = async () => (await world.api.call('GET', '/v1/tokens')).json.data as Fields[];

  it('covers only the route, only calls through it, and ends in ten minutes', async () => {
    const token = await minted(await world.session());
    const { json } = await world.api.call('GET', `/v1/tokens/${token.id}`);
    expect(json.data).toMatchObject({
      name: expect.stringMatching(/^console of admin [0-9a-z]{8}$/),
      environments: ['production'],
      routes: ['charges'],
      scopes: ['proxy'],
      expires_at: new Date(world.api.clock.nowMs() + CALL_TOKEN_MS).toISOString(),
    });
    expect(token.expires_at).toBe(json.data?.['expires_at']);
  });

  it('reaches the data plane, and neither the browser nor the database', async () => {
    const answer = await world.send(await world.session(), { token: 'minted' });
    const secret = sentSecret() ?? '';
    expect(isTokenSecret(secret)).toBe(true);
    expect(answer.text).not.toContain('gwt_');
    const { rows } = await sql<{ text: string }>`
      SELECT row_to_json(tokens)::text AS text FROM tokens
      UNION ALL SELECT row_to_json(audit_events)::text FROM audit_events
      UNION ALL SELECT row_to_json(config_outbox)::text FROM config_outbox
    `.execute(world.api.db);
    expect(rows.some(({ text }) => text.includes('console of admin'))).toBe(true);
    expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
  });

  it('is in the audit trail, as created by the token of the session', async () => {
    const maker = await world.api.makeToken({
      name: 'tester',
      ...{ environments: ['production'], routes: ['charges'], scopes: ['proxy'] },
    });
    const token = await minted(await world.session(maker));
    const { json } = await world.api.call('GET', `/v1/audit-events?resource_id=${token.id}`);
    const makerId = (await listed()).find(({ name }) => name === 'tester')?.id;
    expect(json.data).toMatchObject([{ action: 'token.created', token_id: makerId }]);
  });

  it('is used again by the same session through the same route, until it ends soon', async () => {
    const cookie = await world.session();
    const first = await minted(cookie);
    const secret = sentSecret();
    expect((await minted(cookie)).id).toBe(first.id);
    expect(sentSecret()).toBe(secret);
    expect((await minted(cookie, { route_id: world.routes.dev })).id).not.toBe(first.id);
    expect((await minted(await world.session())).id).not.toBe(first.id);
    world.api.clock.advance(CALL_TOKEN_MS - 2 * MINUTE_MS);
    expect((await minted(cookie)).id).toBe(first.id);
    world.api.clock.advance(1.5 * MINUTE_MS);
    expect((await minted(cookie)).id).not.toBe(first.id);
    const name = 'gateway_control_plane_console_send_tokens_total';
    expect(await world.metric(name)).toBe('4');
  });

  it('is replaced after it was revoked', async () => {
    const cookie = await world.session();
    const first = await minted(cookie);
    await world.api.call('DELETE', `/v1/tokens/${first.id}`);
    expect((await minted(cookie)).id).not.toBe(first.id);
  });

  it('does not outlive the token of the session', async () => {
    const expires_at = new Date(world.api.clock.nowMs() + 3 * MINUTE_MS).toISOString();
    const secret = await world.api.makeToken({
      name: 'short',
      ...{ environments: ['production'], routes: ['charges'], scopes: ['proxy'], expires_at },
    });
    expect((await minted(await world.session(secret))).expires_at).toBe(expires_at);
  });

  it('is not created with a secret that was rotated away', async () => {
    const body = { name: 'rotated', environments: ['*'], scopes: ['*'] };
    const secret = await world.api.makeToken(body);
    const cookie = await world.session(secret);
    const id = (await listed()).find(({ name }) => name === 'rotated')?.id;
    await world.api.call('POST', `/v1/tokens/${id}/rotate`, { body: {} });
    const answer = await world.send(cookie, { token: 'minted' });
    expect(codeOf(answer)).toEqual([401, 'authentication_failed']);
    expect(world.dataPlane.begun).toEqual([]);
  });

  it('is waited for: nothing is sent before every live data plane knows it', async () => {
    await stopServing();
    const { api } = world;
    const cookie = await world.session();
    const beat = () => {
      const config_versions = { production: 0, development: 0 };
      api.dataPlanes.take(heartbeatOf('late', { config_versions }), api.clock.monotonicMs());
    };
    beat();
    let answer = world.send(cookie, { token: 'minted' });
    await eventually(async () =>
      expect(await api.registry.metrics()).toContain('gateway_control_plane_waiting 1'),
    );
    await api.publish('production');
    beat();
    api.clock.advance(TOKEN_WAIT_MS);
    expect(codeOf(await answer)).toEqual([503, 'data_plane_unavailable']);
    expect((await answer).json.error?.['message']).toContain('Nothing was sent');
    expect(world.dataPlane.begun).toEqual([]);
    const made = (await listed()).filter(({ name }) => String(name).startsWith('console of'));
    stopServing = await world.serveChanges();
    api.dataPlanes.remove('late');
    answer = world.send(cookie, { token: 'minted' });
    expect((await answer).status).toBe(200);
    const after = (await listed()).filter(({ name }) => String(name).startsWith('console of'));
    expect(after).toEqual(made);
  });
});
