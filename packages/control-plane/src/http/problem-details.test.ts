import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../test/api.ts';

describe('an error of the management API', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(async () => {
    await api.close();
  });

  const create = (accept: string) =>
    fetch(`${api.url}/v1/services`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.adminToken}`,
        'content-type': 'application/json',
        accept,
      },
      body: '{}',
    });

  it('has the members of problem details beside the promised one if the caller asks for them', async () => {
    const response = await create('application/json, application/problem+json');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('vary')).toBe('Accept');
    const problem = (await response.json()) as { error: { message: string; details: unknown[] } };
    expect(problem).toMatchObject({
      type: '/docs/errors#invalid_request',
      title: 'Invalid request',
      status: 400,
      detail: problem.error.message,
      instance: `/v1/requests/${response.headers.get('x-request-id')}`,
      error: { code: 'invalid_request', request_id: response.headers.get('x-request-id') },
    });
    expect(problem.error.details.length).toBeGreaterThan(0);
  });

  it('is the promised one otherwise, and says that it varies', async () => {
    const response = await create('application/json');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('vary')).toBe('Accept');
    expect(Object.keys((await response.json()) as object)).toEqual(['error']);
  });
});
