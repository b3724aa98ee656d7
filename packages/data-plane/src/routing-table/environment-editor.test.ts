import { DEFAULT_LIMITS } from '@gateway/shared/test/snapshot';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runAtOnce } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import {
  routeSchema,
  SNAPSHOT_FORMAT,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from '@gateway/shared/snapshot/schema';
import type { ElementKind, UnreadableElement } from '@gateway/shared/snapshot/read-element';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { NO_KEYS } from './compile-credential.ts';
import { compileEnvironment } from './compile.ts';
import { EnvironmentEditor } from './environment-editor.ts';
import type { EnvironmentTable } from './routing-table.ts';

interface Content {
  readonly unreadable?: readonly UnreadableElement[];
  readonly services: readonly SnapshotService[];
  readonly routes: readonly SnapshotRoute[];
  readonly tokens: readonly SnapshotToken[];
}

function service(id: number, name: string): SnapshotService {
  return {
    id: `svc_${id}`,
    name,
    revision: 1,
    upstreams: [{ id: 'ups_1', url: 'http://a.example', region: null, weight: 1 }],
    health_check: {
      type: 'http',
      grpc_service: '',
      path: '/',
      interval_ms: 5000,
      timeout_ms: 2000,
      healthy_threshold: 2,
      unhealthy_threshold: 3,
    },
    protocol: 'http1',
    websocket_protocol: 'http1',
    send_via: false,
    limits: DEFAULT_LIMITS,
  };
}

function route(id: number, name: string, serviceIds: readonly number[]): SnapshotRoute {
  return routeSchema.parse({
    id: `rte_${id}`,
    name,
    revision: 1,
    timeout_ms: 1000,
    retry_count: 0,
    methods: null,
    versions: serviceIds.map((one) => {
      return { name: `v${one}`, service_id: `svc_${one}`, weight: 1 };
    }),
    auth: { type: 'token' },
    regions: [],
    max_body_bytes: 100,
    rate_limit: { limit: 10, window_seconds: 60, per: 'route', on_store_unavailable: 'share' },
    retry: {
      on_statuses: [],
      per_attempt_timeout_ms: null,
      backoff_ms: 0,
      unsafe_methods: 'never',
    },
    idempotency: {
      mode: 'store',
      required: false,
      on_unknown: 'refuse',
      repeatable_statuses: [425, 429],
    },
  });
}

function token(id: number, hashes: readonly string[]): SnapshotToken {
  const secrets = hashes.map((hash) => ({ sha256: `${id}-${hash}`, expires_at_ms: null }));
  return { id: `tok_${id}`, secrets, environments: ['*'], routes: ['*'], scopes: ['proxy'] };
}

function unreadable(kind: ElementKind, id: string, name?: string): UnreadableElement {
  return { kind, id, name, auth: undefined, match: [], reason: 'a setting of a later release' };
}

/** An element with an id of its own. */
const each = <T>(element: (id: number) => fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.nat(5)).chain((made) => fc.tuple(...made.map(element)));
const names = fc.nat(3).map((name) => `r${name}`);

/**
 * Configurations with few ids and names, so that they overlap. Routes name services that are missing or do not compile,
 * or share a name, and some elements cannot be read.
 */
const content: fc.Arbitrary<Content> = fc
  .record({
    services: each((id) =>
      fc.constantFrom<SnapshotService | UnreadableElement>(
        service(id, 'a'),
        service(id, 'b'),
        { ...service(id, 'c'), upstreams: [{ id: 'u', url: 'no url', region: null, weight: 1 }] },
        unreadable('service', `svc_${id}`),
      ),
    ),
    routes: each((id) =>
      fc
        .oneof(
          { weight: 4, arbitrary: fc.tuple(names, fc.uniqueArray(fc.nat(5), { minLength: 1 })) },
          names,
        )
        .map((made): SnapshotRoute | UnreadableElement =>
          typeof made === 'string' ? unreadable('route', `rte_${id}`, made) : route(id, ...made),
        ),
    ),
    tokens: each((id) =>
      fc
        .option(fc.uniqueArray(fc.constantFrom('x', 'y', 'z')))
        .map((hashes): SnapshotToken | UnreadableElement =>
          hashes === null ? unreadable('token', `tok_${id}`) : token(id, hashes),
        ),
    ),
  })
  .map(({ services, routes, tokens }) => ({
    services: services.filter(isReadable),
    routes: routes.filter(isReadable),
    tokens: tokens.filter(isReadable),
    unreadable: [...services, ...routes, ...tokens].filter((one) => 'reason' in one),
  }));

function isReadable<T extends object>(element: T | UnreadableElement): element is T {
  return !('reason' in element);
}

function snapshotOf(version: number, made: Content): ReadSnapshot {
  const { services, routes, tokens } = made;
  return {
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    version,
    services: [...services],
    routes: [...routes],
    tokens: [...tokens],
    ...(made.unreadable !== undefined && { unreadable: made.unreadable }),
  };
}

function difference<K extends 'services' | 'routes' | 'tokens'>(
  kind: K,
  before: Content,
  after: Content,
) {
  const all = (content: Content): readonly { readonly id: string }[] => [
    ...content[kind],
    ...(content.unreadable ?? []).filter((one) => `${one.kind}s` === kind),
  ];
  const known = new Map(all(before).map((one) => [one.id, JSON.stringify(one)]));
  const kept = new Set(all(after).map(({ id }) => id));
  return {
    put: (after[kind] as Content[K][number][]).filter(
      (one) => known.get(one.id) !== JSON.stringify(one),
    ),
    remove: [...known.keys()].filter((id) => !kept.has(id)),
  };
}

function deltaOf(from: number, before: Content, after: Content): Delta {
  return {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    from,
    version: from + 1,
    since: { snapshot: 1, deltas: 1, bytes: 1 },
    services: difference('services', before, after),
    routes: difference('routes', before, after),
    tokens: difference('tokens', before, after),
    ...(after.unreadable !== undefined && { unreadable: after.unreadable }),
  };
}

/** The content of a table, independent of the order of its changes. */
const plain = (table: EnvironmentTable) => {
  const { name, stateKey, version, services, routes, tokens, unusable } = table;
  const refused = [...table.refusedNames].map(([key, { route: found, claimants }]) => {
    const ids = claimants.map(({ id }) => id).toSorted();
    const { auth, timeoutMs, reason, serviceIds, compile } = found;
    const heals = compile !== undefined;
    return [key, { ids, auth, timeoutMs, reason, serviceIds, heals }] as const;
  });
  const reported = [...unusable].map(
    ([key, { kind, id, reason }]) => [key, { kind, id, reason }] as const,
  );
  const maps = [services, routes, tokens].map((one) => new Map<string, unknown>(one));
  return { name, stateKey, version, maps, refused: new Map(refused), reported: new Map(reported) };
};
const compiled = (version: number, made: Content) =>
  plain(runAtOnce(compileEnvironment(snapshotOf(version, made))));

const load = (snapshot: ReadSnapshot) =>
  runAtOnce(EnvironmentEditor.load(snapshot, undefined, NO_KEYS));
const EMPTY: Content = { services: [], routes: [], tokens: [] };

describe('an edited environment', () => {
  it('equals a full load after any changes and leaves earlier tables unchanged', () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 6 }), (contents) => {
        const editor = load(snapshotOf(1, EMPTY));
        let before = EMPTY;
        let version = 1;
        for (const after of contents) {
          const old = editor.table;
          const expectedOld = compiled(version, before);
          const change = editor.apply(deltaOf(version, before, after));
          version += 1;
          expect(plain(change.table)).toEqual(compiled(version, after));
          expect(plain(old)).toEqual(expectedOld);
          for (const one of change.table.routes.values()) {
            for (const { service: used } of one.versions) {
              expect(used).toBe(change.table.services.get(used.id));
            }
          }
          before = after;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps quotas and other state of an environment apart from those of the one before, also after deltas', () => {
    const id = 'env_01k2m8v4zj5r7c9e1g3p6t8w0x';
    const before = { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1])] };
    const editor = load({ ...snapshotOf(1, before), environment_id: id });
    const after = { ...before, routes: [...before.routes, route(2, 'r2', [1])] };
    const { table } = editor.apply(deltaOf(1, before, after));
    expect(table).toMatchObject({ name: 'production', stateKey: id });
    const keys = [...table.routes.values()].map(({ quota, environment }) => [
      environment,
      quota.key,
    ]);
    expect(keys).toEqual([
      ['production', `${id}/r1`],
      ['production', `${id}/r2`],
    ]);
    expect(load(snapshotOf(1, before)).table.stateKey).toBe('production');
  });

  it('accepts a repeated change and a removal of something unknown', () => {
    const made = { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r', [1])] };
    const editor = load(snapshotOf(1, EMPTY));
    const delta = deltaOf(1, EMPTY, made);
    editor.apply(delta);
    const gone = { put: [], remove: ['svc_9', 'rte_9', 'tok_9'] };
    const again = { ...delta, from: 2, version: 3, tokens: gone };
    expect(plain(editor.apply(again).table)).toEqual(compiled(3, made));
  });

  it('reports exactly the changed entities', () => {
    const before = {
      ...EMPTY,
      services: [service(1, 'a'), service(2, 'a')],
      routes: [route(1, 'r1', [1]), route(2, 'r2', [2])],
    };
    const editor = load(snapshotOf(1, before));
    const change = editor.apply(
      deltaOf(1, before, { ...before, services: [service(1, 'b'), service(2, 'a')] }),
    );
    expect(change.services.map(({ after }) => after?.name)).toEqual(['b']);
    expect(change.routes.map(({ after }) => after?.name)).toEqual(['r1']);
  });

  it.each<[string, Content, string]>([
    [
      'a route to a service that is not there',
      { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1]), route(2, 'r2', [7])] },
      'its service svc_7 is missing or cannot be used',
    ],
    [
      'the name of another route',
      {
        ...EMPTY,
        services: [service(1, 'a')],
        routes: [route(1, 'r1', [1]), route(2, 'r2', [1]), route(3, 'r2', [1])],
      },
      'another route has the same name',
    ],
    [
      'a route that cannot be read',
      {
        ...EMPTY,
        services: [service(1, 'a')],
        routes: [route(1, 'r1', [1])],
        unreadable: [unreadable('route', 'rte_2', 'r2')],
      },
      'a setting of a later release',
    ],
    [
      'a service less than its routes name',
      { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1]), route(2, 'r2', [2])] },
      'its service svc_2 is missing or cannot be used',
    ],
  ])(
    'refuses the requests of one route after %s, and serves it after the next change',
    (_what, broken, reason) => {
      const sound = {
        ...EMPTY,
        services: [service(1, 'a'), service(2, 'a')],
        routes: [route(1, 'r1', [1]), route(2, 'r2', [2])],
      };
      const editor = load(snapshotOf(1, sound));
      const { table } = editor.apply(deltaOf(1, sound, broken));
      expect([...table.routes.keys()]).toEqual(['r1']);
      expect(table.refusedNames.get('r2')?.route.reason).toBe(reason);
      const healed = editor.apply(deltaOf(2, broken, sound));
      expect(healed.unusableChanged).toBe(true);
      expect(plain(healed.table)).toEqual(compiled(3, sound));
      expect(healed.table.unusable.size).toBe(0);
    },
  );

  it('serves a route again when only its service was mended', () => {
    const sound = { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1])] };
    const broken = { ...sound, services: [], unreadable: [unreadable('service', 'svc_1')] };
    const editor = load(snapshotOf(1, broken));
    expect(editor.table.routes.size).toBe(0);
    const change = editor.apply(deltaOf(1, broken, sound));
    expect(change.routes.map(({ after }) => after?.name)).toEqual(['r1']);
    expect(plain(change.table)).toEqual(compiled(2, sound));
  });

  it('revokes the secrets of a token that cannot be read any more', () => {
    const before = { ...EMPTY, tokens: [token(1, ['x'])] };
    const editor = load(snapshotOf(1, before));
    const after = { ...EMPTY, unreadable: [unreadable('token', 'tok_1')] };
    const { table } = editor.apply(deltaOf(1, before, after));
    expect(table.tokens.size).toBe(0);
    expect([...table.unusable.keys()]).toEqual(['token tok_1']);
  });
});
