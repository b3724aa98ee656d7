import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EXPLAIN_FORMAT, type ExplainQuestion } from '@gateway/shared/explain/explain-messages';
import type { Reached } from '../fleet/ask-data-planes.ts';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';
import { REFUSED_CALLER } from '../../test/explanation.ts';
import {
  beyondReachWorld,
  type BaseCall,
  type BeyondReachWorld,
  type Named,
} from '../../test/beyond-reach.ts';
import { NAMES_NOTHING } from '../../test/names-nothing.ts';

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** What the call can be given, as `in:name`. */
  readonly given: readonly string[];
}

type Json = Record<string, unknown>;

/** The operations of the document, with each parameter and each field of their bodies. */
function operationsOf(document: Json): Operation[] {
  const resolved = (node: unknown): Json => {
    const { $ref } = node as { $ref?: string };
    if ($ref === undefined) return node as Json;
    return resolved(
      $ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, key) => (at as Json)[key], document),
    );
  };
  const found: Operation[] = [];
  for (const [path, item] of Object.entries(document['paths'] as Record<string, Json>)) {
    for (const [method, value] of Object.entries(item)) {
      const operation = value as Json & { operationId?: string };
      if (operation.operationId === undefined) continue;
      const parameters = ((operation['parameters'] ?? []) as unknown[]).map(resolved);
      const given = parameters.map((one) => `${String(one['in'])}:${String(one['name'])}`);
      if (operation['requestBody'] !== undefined) {
        const content = resolved(operation['requestBody'])['content'] as Record<string, Json>;
        const schema = resolved(content['application/json']?.['schema']);
        given.push(...Object.keys(schema['properties'] as Json).map((name) => `body:${name}`));
      }
      found.push({ id: operation.operationId, method: method.toUpperCase(), path, given });
    }
  }
  return found;
}

/** The call with one part replaced. */
function withPart(base: BaseCall, part: string, value: unknown) {
  const [place = '', name = ''] = part.split(':');
  const query = { ...base.query, ...(place === 'query' && { [name]: String(value) }) };
  const params = { ...base.path, ...(place === 'path' && { [name]: String(value) }) };
  const body =
    base.body === undefined
      ? undefined
      : { ...base.body, ...(place === 'body' && { [name]: value }) };
  const headers: Record<string, string> = place === 'header' ? { [name]: String(value) } : {};
  return { query, params, body, headers };
}

describe('what a call names beyond the reach of its token', () => {
  let api: TestApi;
  let world: BeyondReachWorld;
  let operations: Operation[];

  beforeAll(async () => {
    api = await startTestApi({ authFailureLimit: 100_000, ask: (_id, message) => ask(message) });
    world = await beyondReachWorld(api);
    const { json } = await api.call('GET', '/v1/openapi.json');
    operations = operationsOf(json);
  });
  afterAll(() => api.close());

  /** Answers as a data plane does: about the environment that the last header names. */
  function ask(message: string): Promise<Reached> {
    const { fields } = JSON.parse(message) as ExplainQuestion;
    const environment = fields[fields.findLastIndex((name) => /^x-gateway-env/i.test(name)) + 1];
    const route_id = environment === 'production' ? world.foreignRouteId : null;
    const explanation = { ...REFUSED_CALLER, environment, route_id };
    const answer = { format: EXPLAIN_FORMAT, explanation, problem: null };
    return Promise.resolve({ kind: 'answer', data: Buffer.from(JSON.stringify(answer)) });
  }

  const namedBy = ({ id }: Operation, part: string): Named | undefined =>
    world.names[`${id} ${part}`] ??
    (NAMES_NOTHING[`${id} ${part}`] === undefined ? world.names[part] : undefined);

  async function send({ id, method, path }: Operation, part: string, value: unknown) {
    const { query, params, body, headers } = withPart(world.calls[id] ?? {}, part, value);
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    const search = new URLSearchParams(query).toString();
    const options = { headers, token: world.secret, ...(body !== undefined && { body }) };
    return api.call(method, search === '' ? target : `${target}?${search}`, options);
  }

  /** The answer without what differs in each, and without what the caller itself sent. */
  function said({ status, headers, text }: Answer, sent: unknown): string {
    let shown = [
      status,
      headers.get('x-gateway-error'),
      headers.get('www-authenticate'),
      text,
    ].join('\n');
    for (const word of wordsOf(sent)) shown = shown.replaceAll(word, '(sent)');
    return shown
      .replaceAll(/\b(?:req|tok|rte|svc|ups|aud)_[0-9a-z]{26}\b/g, '(id)')
      .replaceAll(/"(?:secret|\w+_at)":"[^"]*"/g, '');
  }

  it('covers every parameter and every field of each operation', () => {
    const unknown = operations.flatMap((operation) =>
      operation.given
        .filter((part) => namedBy(operation, part) === undefined)
        .filter(
          (part) => (NAMES_NOTHING[`${operation.id} ${part}`] ?? NAMES_NOTHING[part]) === undefined,
        )
        .map((part) => `${operation.id} ${part}`),
    );
    expect(unknown).toEqual([]);
    const used = new Set(
      operations.flatMap(({ id, given }) => given.flatMap((part) => [part, `${id} ${part}`])),
    );
    const unused = [...Object.keys(world.names), ...Object.keys(NAMES_NOTHING)].filter(
      (name) => !used.has(name),
    );
    expect(unused).toEqual([]);
  });

  it('is in no answer, and a name beyond it gets the answer of a name that does not exist', async () => {
    const wrong: unknown[] = [];
    let calls = 0;
    for (const operation of operations) {
      for (const part of operation.given) {
        const named = namedBy(operation, part);
        if (named === undefined) continue;
        calls += 1;
        const [existing, missing] = [
          await send(operation, part, named.existing),
          await send(operation, part, named.missing),
        ];
        const answers = [said(existing, named.existing), said(missing, named.missing)];
        const isSame = answers[0] === answers[1];
        const where = `${operation.id} ${part}`;
        let text = existing.text;
        for (const word of wordsOf(named.existing)) text = text.replaceAll(word, '');
        const leaked = world.markers.filter((marker) => text.includes(marker));
        if (leaked.length > 0) wrong.push([where, leaked, existing.text]);
        if (named.by === 'name' && !isSame) wrong.push([where, ...answers]);
        const { data } = existing.json;
        const isEmpty = Array.isArray(data) && data.length === 0;
        const isRefused = [400, 401, 404].includes(existing.status);
        if (named.by === 'id' && !isRefused && !isEmpty && !isSame) wrong.push([where, ...answers]);
      }
    }
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThan(80);
  });

  it('is in no answer to a call that names only what its token covers', async () => {
    const wrong: unknown[] = [];
    const statuses: Record<string, number> = {};
    const deletes = operations.filter(({ method }) => method === 'DELETE');
    const others = operations.filter(({ method }) => method !== 'DELETE');
    for (const operation of [...others, ...deletes]) {
      // It is for everybody, and has examples with these names.
      if (operation.id === 'getOpenApiDocument') continue;
      const answer = await send(operation, '', undefined);
      const leaked = world.markers.filter((marker) => answer.text.includes(marker));
      if (leaked.length > 0) wrong.push([operation.id, leaked, answer.text]);
      if (answer.status >= 300) statuses[operation.id] = answer.status;
    }
    expect(wrong).toEqual([]);
    expect(statuses).toEqual({
      // The route `hidden-beside` uses the service.
      deleteService: 409,
      applyEnvironment: 409,
      // They need a token for all environments, or for all routes.
      createEnvironment: 401,
      deleteEnvironment: 401,
      rollBackEnvironment: 401,
      rollBackConfig: 401,
    });
  });
});

/** The texts in a value that was sent. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(wordsOf);
}
