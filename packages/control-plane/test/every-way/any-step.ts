import fc from 'fast-check';
import { anyOfFields, anyValueOf } from './any-field.ts';
import { WHOLE, type Fields, type Kind } from './model.ts';

/** The ways by which services and routes change, and an upgrade that adds a setting; and how often each is tried. */
const TRIED = {
  POST: 2,
  PATCH: 3,
  PUT: 2,
  DELETE: 1,
  apply: 2,
  'roll-back': 2,
  // Few changes can be reverted.
  revert: 3,
  upgrade: 1,
} as const;
export type WayName = keyof typeof TRIED;
export const WAYS = Object.keys(TRIED) as readonly WayName[];
export const NAMES = ['a', 'b', 'c'];

const { service, route } = WHOLE;
const { name: _service, url, upstreams, health_check: check, ...serviceShape } = service.shape;
const { name: _route, environment: _environment, ...withTarget } = route.shape;
const {
  service_id: _id,
  versions: _versions,
  respond: _respond,
  redirect: _redirect,
  ...routeShape
} = withTarget;

/** The settings that have a default. A service has had its health check as long as there are services. */
export const SETTINGS: readonly (readonly [Kind, string])[] = [
  ...Object.keys(routeShape).map((field) => ['route', field] as const),
  ...Object.keys(serviceShape)
    .filter((field) => !['credential', 'tls'].includes(field))
    .map((field) => ['service', field] as const),
];

// A path that is given is the same as none if it is `health_path`; that is a matter of put.test.ts. Which type may be given
// depends on the protocol; that is one of services.test.ts.
const anyCheck = anyValueOf(check).map((given) => {
  return { ...(given as Fields), type: 'http', path: null };
});
const anyUpstreams = fc.oneof(
  anyValueOf(url).map((given) => ({ url: given })),
  anyValueOf(upstreams).map((given) => ({ upstreams: given })),
);
const anyService = fc
  .tuple(anyOfFields(serviceShape), fc.option(anyCheck), anyUpstreams)
  .map(([fields, health_check, where]) => ({
    ...fields,
    // Which one may be given depends on the protocol too.
    ...(fields['websocket_protocol'] !== undefined && { websocket_protocol: 'http1' }),
    ...(health_check && { health_check }),
    ...where,
  }));
// A mirror names a service, as the target of a route does.
const { match, rewrite, mirror: _mirror, ...otherFields } = routeShape;
/** Each way has a path of its own, because two routes must not have the same; that is a matter of route-matches.test.ts. */
const anyMatch = fc
  .tuple(anyValueOf(match), fc.noShrink(fc.noBias(fc.maxSafeNat())))
  .map(([ways, number]) =>
    (ways as readonly Fields[]).map((way, index) => {
      return { ...way, hosts: [], paths: [{ prefix: `/${number}/${index}` }] };
    }),
  );
/** Without what depends on other fields of the route; that is a matter of route-rewriting.test.ts. */
const anyRewrite = anyValueOf(rewrite).map((given): object | null => {
  if (given === null) return null;
  const text = JSON.stringify({ ...(given as Fields), strip_prefix: null });
  return JSON.parse(text.replaceAll('jwt.claims.tenant', 'request.id')) as object;
});
const anyRoute = fc
  .tuple(anyOfFields(otherFields), fc.option(anyMatch), fc.option(anyRewrite, { nil: undefined }))
  .map(([fields, ways, rewritten]) => ({
    ...fields,
    ...(ways !== null && { match: ways }),
    ...(rewritten !== undefined && { rewrite: rewritten }),
  }));

const anyDeclared = (body: fc.Arbitrary<Fields>) =>
  fc.option(
    fc.uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), body, target: fc.nat() }), {
      selector: ({ name }) => name,
      maxLength: 3,
    }),
  );

/** One call, with all that any way may need: a body of each kind, and numbers that choose what it is about. */
export interface Step {
  readonly way: WayName;
  readonly kind: Kind;
  readonly pick: number;
  readonly name: string;
  readonly isRenamed: boolean;
  readonly service: Fields;
  readonly route: Fields;
  readonly services: readonly Declared[] | null;
  readonly routes: readonly Declared[] | null;
  readonly prune: boolean;
}

interface Declared {
  readonly name: string;
  readonly body: Fields;
  readonly target: number;
}

export const anyStep: fc.Arbitrary<Step> = fc.record({
  way: fc.constantFrom(...WAYS.flatMap((way) => Array<WayName>(TRIED[way]).fill(way))),
  kind: fc.constantFrom<Kind>('service', 'route'),
  pick: fc.nat(),
  name: fc.constantFrom(...NAMES),
  isRenamed: fc.boolean(),
  service: anyService,
  route: anyRoute,
  services: anyDeclared(anyService),
  routes: anyDeclared(anyRoute),
  prune: fc.boolean(),
});
