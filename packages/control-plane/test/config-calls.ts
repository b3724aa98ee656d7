import type { Answer, TestApi } from './api.ts';

/** Calls that tests of configuration versions use. */
export function configCalls(api: () => TestApi) {
  async function make(path: string, body: object): Promise<string> {
    const { status, json, text } = await api().call('POST', path, { body });
    if (status !== 201) throw new Error(text);
    return json.data?.id ?? '';
  }

  const service = (name: string, fields: object = {}) =>
    make('/v1/services', { name, environment: 'production', url: 'http://a.example', ...fields });
  const route = (name: string, service_id: string, fields: object = {}) =>
    make('/v1/routes', { name, service_id, ...fields });

  async function change(path: string, body?: object): Promise<Answer> {
    const answer = await api().call(
      body === undefined ? 'DELETE' : 'PATCH',
      path,
      body && { body },
    );
    if (answer.status >= 300) throw new Error(answer.text);
    return answer;
  }

  async function all(path: string): Promise<readonly Record<string, unknown>[]> {
    return (await api().call('GET', `${path}?limit=200`)).json.data ?? [];
  }

  function rollBack(
    version: number,
    options: {
      readonly token?: string;
      readonly headers?: Record<string, string>;
      readonly body?: object;
    } = {},
  ): Promise<Answer> {
    const path = '/v1/environments/production/rollback';
    const { body, ...rest } = options;
    return api().call('POST', path, { body: { version, ...body }, ...rest });
  }

  const versions = (query = '') =>
    api().call('GET', `/v1/environments/production/versions?${query.slice(1)}`);
  const diff = (from: number, to: number, query = '', token = api().adminToken) =>
    api().call('GET', `/v1/environments/production/diff?from=${from}&to=${to}${query}`, {
      token,
    });
  const code = ({ status, json }: Answer) => [status, json.error?.['code']];

  return { service, route, change, all, versions, diff, code, rollBack };
}
