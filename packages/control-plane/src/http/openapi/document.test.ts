import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { startTestApi, type TestApi } from '../../../test/api.ts';

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Reference }>> };
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

interface Reference {
  readonly $ref: string;
}

interface Schema {
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly object[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

describe('GET /v1/openapi.json', () => {
  let api: TestApi;
  let document: Document;

  beforeAll(async () => {
    api = await startTestApi();
    const answer = await api.call('GET', '/v1/openapi.json', { token: null });
    expect(answer.status).toBe(200);
    document = JSON.parse(answer.text) as Document;
  });

  afterAll(async () => {
    await api.close();
  });

  it('lists every endpoint of the management API', () => {
    expect(document.openapi).toBe('3.1.0');
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'DELETE /v1/environments/{name}',
      'DELETE /v1/routes/{id}',
      'DELETE /v1/services/{id}',
      'DELETE /v1/tokens/{id}',
      'GET /v1/audit-events',
      'GET /v1/config/diff',
      'GET /v1/config/versions',
      'GET /v1/config/versions/{version}',
      'GET /v1/data-planes',
      'GET /v1/environments',
      'GET /v1/environments/{name}',
      'GET /v1/environments/{name}/diff',
      'GET /v1/environments/{name}/export',
      'GET /v1/environments/{name}/versions',
      'GET /v1/environments/{name}/versions/{version}',
      'GET /v1/links',
      'GET /v1/openapi.json',
      'GET /v1/requests',
      'GET /v1/requests/{id}',
      'GET /v1/routes',
      'GET /v1/routes/{id}',
      'GET /v1/services',
      'GET /v1/services/{id}',
      'GET /v1/services/{id}/health',
      'GET /v1/stats',
      'GET /v1/stats/callers',
      'GET /v1/stats/requests',
      'GET /v1/stats/routes',
      'GET /v1/tokens',
      'GET /v1/tokens/{id}',
      'GET /v1/whoami',
      'PATCH /v1/routes/{id}',
      'PATCH /v1/services/{id}',
      'PATCH /v1/tokens/{id}',
      'POST /v1/config/rollback',
      'POST /v1/connection-tests',
      'POST /v1/environments',
      'POST /v1/environments/{name}/apply',
      'POST /v1/environments/{name}/rollback',
      'POST /v1/routes',
      'POST /v1/routes/{id}/explain',
      'POST /v1/services',
      'POST /v1/tokens',
      'POST /v1/tokens/{id}/rotate',
      'PUT /v1/routes/{id}',
      'PUT /v1/services/{id}',
    ]);
  });

  it('names each operation once, under a tag that is described', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const operation of operations) {
      expect(tags).toContain(operation.tags[0]);
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(operation.description).toMatch(/^[A-Z*].*\.$/s);
    }
  });

  it('lists only paths and methods that exist', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) {
        const answer = await api.call(method.toUpperCase(), path.replace(/\{\w+\}/, 'x'));
        const code = answer.json.error?.['code'];
        expect(['not_found', 'method_not_allowed', 'internal_error']).not.toContain(code);
      }
    }
  });

  it('has the bounds and defaults that bodies are validated with', () => {
    const body = document.paths['/v1/routes']?.['post']?.requestBody?.content['application/json'];
    expect(body?.schema).toEqual({ $ref: '#/components/schemas/RouteCreate' });
    const schema = document.components.schemas['RouteCreate'];
    expect(schema?.required).toEqual(['name']);
    const targets = ['service_id', 'versions', 'respond', 'redirect'];
    expect(schema?.anyOf).toEqual(targets.map((name) => ({ required: [name] })));
    expect(schema?.properties).toMatchObject({
      timeout_ms: { type: 'integer', minimum: 1, maximum: 300_000, default: 10_000 },
      retry_count: { type: 'integer', minimum: 0, maximum: 10, default: 2 },
    });
  });

  it('lists the error codes of an endpoint under their statuses', () => {
    const responses = document.paths['/v1/routes']?.['post']?.responses ?? {};
    expect(Object.keys(responses)).toEqual([
      '201',
      '400',
      '401',
      '405',
      '408',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
    for (const code of ['name_conflict', 'invalid_request'] satisfies ErrorCode[]) {
      expect(JSON.stringify(responses[ERROR_TABLE[code].status])).toContain(code);
    }
  });

  it('lists the precondition headers of the operations that obey them, and of no others', () => {
    const conditional = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [] }]) => {
        const names = parameters.map(({ name }) => name).filter((name) => /^If-/.test(name));
        return names.length === 0 ? [] : [`${method.toUpperCase()} ${path}: ${names.join(', ')}`];
      }),
    );
    const ofEach = ['services', 'routes'].flatMap((kind) => [
      `DELETE /v1/${kind}/{id}: If-Match`,
      `GET /v1/${kind}/{id}: If-None-Match`,
      `PATCH /v1/${kind}/{id}: If-Match`,
      `PUT /v1/${kind}/{id}: If-Match, If-None-Match`,
    ]);
    const ofVersions = [
      'GET /v1/environments/{name}: If-None-Match',
      'POST /v1/config/rollback: If-Match',
      'POST /v1/environments/{name}/rollback: If-Match',
    ];
    expect(conditional.sort()).toEqual([...ofEach, ...ofVersions].sort());
  });

  it('describes limit as a number', () => {
    const list = document.paths['/v1/routes']?.['get']?.parameters ?? [];
    expect(list.find((parameter) => parameter.name === 'limit')).toEqual({
      name: 'limit',
      in: 'query',
      required: false,
      description: 'The maximum number of items in a page.',
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      example: 50,
    });
  });
});
