import { DEFAULT_LIMITS } from '@gateway/shared/test/snapshot';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runAtOnce } from '@gateway/shared/pace';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import {
  routeSchema,
  SNAPSHOT_FORMAT,
  type Snapshot,
  type SnapshotRoute,
  type SnapshotService,
  type SnapshotToken,
} from '@gateway/shared/snapshot/schema';
import { NO_KEYS } from './compile-credential.ts';
import { compileEnvironment } from './compile.ts';
import { EnvironmentEditor } from './environment-editor.ts';
import type { EnvironmentTable } from './routing-table.ts';

interface Content {
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
      path: '/',
      interval_ms: 5000,
      timeout_ms: 2000,
      healthy_threshold: 2,
      unhealthy_threshold: 3,
    },
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

const ids = fc.uniqueArray(fc.nat(5), { minLength: 1 });

/** Valid configurations with few ids and names, so that they overlap. */
const content: fc.Arbitrary<Content> = ids.chain((serviceIds) =>
  fc.record({
    services: fc.tuple(
      ...serviceIds.map((id) => fc.constantFrom('a', 'b').map((name) => service(id, name))),
    ),
    routes: fc
      .uniqueArray(fc.tuple(fc.nat(5), fc.nat(5)), { selector: ([id]) => id })
      .chain((made) => {
        const named = made.filter(
          ([, name], at) => made.findIndex(([, other]) => other === name) === at,
        );
        return fc.tuple(
          ...named.map(([id, name]) =>
            fc
              .uniqueArray(fc.constantFrom(...serviceIds), { minLength: 1 })
              .map((names) => route(id, `r${name}`, names)),
          ),
        );
      }),
    tokens: fc
      .uniqueArray(fc.tuple(fc.nat(5), fc.uniqueArray(fc.constantFrom('x', 'y', 'z'))), {
        selector: ([id]) => id,
      })
      .map((made) => made.map(([id, hashes]) => token(id, hashes))),
  }),
);

function snapshotOf(version: number, made: Content): Snapshot {
  const { services, routes, tokens } = made;
  return {
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    version,
    services: [...services],
    routes: [...routes],
    tokens: [...tokens],
  };
}

function difference<T extends { readonly id: string }>(before: readonly T[], after: readonly T[]) {
  const known = new Map(before.map((one) => [one.id, JSON.stringify(one)]));
  const kept = new Set(after.map(({ id }) => id));
  return {
    put: after.filter((one) => known.get(one.id) !== JSON.stringify(one)),
    remove: before.map(({ id }) => id).filter((id) => !kept.has(id)),
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
    services: difference(before.services, after.services),
    routes: difference(before.routes, after.routes),
    tokens: difference(before.tokens, after.tokens),
  };
}

/** The content of a table, independent of the order of its changes. */
const plain = ({ name, stateKey, version, services, routes, tokens }: EnvironmentTable) => {
  return { name, stateKey, version, maps: [new Map(services), new Map(routes), new Map(tokens)] };
};
const compiled = (version: number, made: Content) =>
  plain(runAtOnce(compileEnvironment(snapshotOf(version, made))));

const load = (snapshot: Snapshot) =>
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
      { ...EMPTY, services: [service(1, 'a')], routes: [route(2, 'new', [7])] },
      'names an unknown service',
    ],
    [
      'the name of another route',
      { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1]), route(2, 'r1', [1])] },
      'has the name of another',
    ],
    ['a service less than its routes name', { ...EMPTY, routes: [route(1, 'r1', [1])] }, 'unknown'],
  ])('refuses %s, and stays unchanged', (_what, after, reason) => {
    const before = { ...EMPTY, services: [service(1, 'a')], routes: [route(1, 'r1', [1])] };
    const editor = load(snapshotOf(1, before));
    const table = editor.table;
    expect(() => editor.apply(deltaOf(1, before, after))).toThrow(reason);
    expect(editor.table).toBe(table);
    const next = { ...before, routes: [route(1, 'renamed', [1])] };
    expect(plain(editor.apply(deltaOf(1, before, next)).table)).toEqual(compiled(2, next));
  });
});
