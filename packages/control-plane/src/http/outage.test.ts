import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestApi, type TestApi } from '../../test/api.ts';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';

describe('the management API while Postgres is away', () => {
  let api: TestApi;
  let gate: TcpGate | undefined;

  beforeEach(async () => {
    api = await startTestApi({
      databaseVia: async (port) => (gate = await openTcpGate(port)).port,
    });
  });

  afterEach(async () => {
    await gate?.set('open');
    await api.close();
    await gate?.close();
  });

  it('answers gateway_not_ready with Retry-After, and serves again when it is back', async () => {
    expect((await api.call('GET', '/v1/services')).status).toBe(200);
    await gate?.set('shut');
    const answer = await api.call('GET', '/v1/services');
    expect({ status: answer.status, code: answer.json.error?.['code'] }).toEqual({
      status: 503,
      code: 'gateway_not_ready',
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('1000');
    expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/i);
    await gate?.set('open');
    await eventually(async () => {
      expect((await api.call('GET', '/v1/services')).status).toBe(200);
    });
  });

  it('answers internal_error without a word of the cause to what it does not foresee', async () => {
    await api.db.schema.dropTable('routes').cascade().execute();
    const answer = await api.call('GET', '/v1/routes');
    expect(answer.status).toBe(500);
    expect(answer.json.error).toEqual({
      code: 'internal_error',
      message: 'The gateway failed in a way that it did not expect.',
      request_id: answer.headers.get('x-request-id'),
    });
  });
});
