import { SCOPES } from '@gateway/shared/tokens/scopes';
import type { Answer, TestApi } from './api.ts';

/** Every right in `production`. */
export const FULL = {
  environments: ['production'],
  routes: ['*'],
  scopes: SCOPES.filter((scope) => scope !== '*'),
};

/** Calls that several tests of tokens use. */
export function tokenCalls(api: () => TestApi) {
  function post(body: object, token?: string): Promise<Answer> {
    return api().call('POST', '/v1/tokens', token === undefined ? { body } : { body, token });
  }

  /** Creates a token. Default: for `production`, with services:read. */
  async function make(fields: object) {
    const body = { environments: ['production'], scopes: ['services:read'], ...fields };
    const { status, json, text } = await post(body);
    if (status !== 201 || json.data === undefined) throw new Error(text);
    const { id, secret } = json.data;
    return { path: `/v1/tokens/${id}`, id, secret };
  }

  async function works(token: string): Promise<boolean> {
    return (await api().call('GET', '/v1/services', { token })).status === 200;
  }

  return { post, make, works };
}
