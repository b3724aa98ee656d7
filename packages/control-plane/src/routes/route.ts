import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import {
  applyChange,
  changeShape,
  mergedFields,
  viewShape,
  withDefaults,
} from '@gateway/shared/definitions/derived-schemas';
import {
  displayNameField,
  environmentNameField,
  exampleId,
  objectField,
  routeNameField,
} from '@gateway/shared/definitions/fields';
import { idView, ROW_FIELDS, rowFields, type RowFields } from '../fields/response-fields.ts';
import { readOnlyShape } from '../fields/round-trip.ts';
import { reservedUses } from '@gateway/shared/definitions/reserved-hosts';
import { routeFields, storedRouteFields } from '@gateway/shared/definitions/route';
import { changeTarget, targetOf, TARGET_FIELDS, type RouteTarget } from './route-versions.ts';
import { keptLocationsField } from '@gateway/shared/definitions/route-locations';
import { declaredMirrorField } from '@gateway/shared/definitions/route-mirror';
import { declaredVersionsField } from '@gateway/shared/definitions/route-versions';
import { readStored, auditedOr } from '../fields/unreadable.ts';
import { refuseContradictions } from './route-rules.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Adds the rule that a body has no two of these fields, of which each may be null. */
function notTwoOf(names: readonly string[]) {
  return (body: Fields, context: z.core.$RefinementCtx): void => {
    const [first, second] = names.filter((name) => (body[name] ?? null) !== null);
    if (first === undefined || second === undefined) return;
    const message = `must be left out when \`${second}\` is given`;
    context.addIssue({ code: 'custom', path: [first], message });
  };
}

/** Runs even if another field is invalid, so that the caller sees every missing field at once. */
function oneOf(names: readonly string[]) {
  return {
    path: names.slice(0, 1),
    error: 'is required',
    when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
  };
}

function hasOneOf(names: readonly string[]) {
  return (body: Fields): boolean => names.some((name) => (body[name] ?? null) !== null);
}

const DECLARED_TARGET_FIELDS = ['service', ...TARGET_FIELDS.slice(1)];

const asAlternatives = (names: readonly string[]) => names.map((name) => ({ required: [name] }));

export const READ_ONLY_ROUTE_FIELDS = ['id', 'environment', ...ROW_FIELDS] as const;

/** The fields of a route whose objects a PATCH merges. */
export const MERGED_ROUTE_FIELDS = mergedFields(storedRouteFields);

/**
 * The bodies that create and change a route; addresses in `deny` are refused in `jwks_url`, hosts that overlap with
 * `reserved` in `match`.
 */
export function routeSchemas(deny: AddressRanges, reserved: readonly string[] = []) {
  const fields = routeFields(deny);
  const refuseReserved = (
    { match = [] }: { readonly match?: RouteSettings['match'] | undefined },
    context: z.core.$RefinementCtx,
  ): void => {
    for (const { path, message } of reservedUses(match, reserved)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  };
  const whole = {
    ...fields,
    service_id: fields.service_id.optional(),
    versions: fields.versions.optional(),
  };
  return {
    /** `name` and `environment` are those of the path and the query. */
    replace: objectField({
      ...whole,
      locations: keptLocationsField,
      ...readOnlyShape(READ_ONLY_ROUTE_FIELDS),
      name: routeNameField.optional().meta({
        description: 'The name that is in the path.',
        examples: ['charges'],
      }),
      environment: environmentNameField.optional().meta({
        description: 'The environment that is in the query.',
        examples: ['production'],
      }),
    })
      .refine(hasOneOf(TARGET_FIELDS), oneOf(TARGET_FIELDS))
      .superRefine(notTwoOf(TARGET_FIELDS))
      .superRefine(refuseContradictions)
      .superRefine(refuseReserved)
      .meta({
        id: 'RouteReplace',
        description: 'All settings of a route. A setting that is left out gets its default.',
        anyOf: asAlternatives(TARGET_FIELDS),
        examples: [{ service_id: exampleId('svc'), timeout_ms: 5000, retry_count: 1 }],
      }),
    create: objectField({
      ...whole,
      environment: environmentNameField.optional().meta({
        description:
          'The environment of the route. It may be left out if the route has a service, whose environment it then is, or if the token covers only one.',
        examples: ['production'],
      }),
    })
      .refine(hasOneOf(TARGET_FIELDS), oneOf(TARGET_FIELDS))
      .superRefine(notTwoOf(TARGET_FIELDS))
      .superRefine(refuseContradictions)
      .superRefine(refuseReserved)
      .meta({
        id: 'RouteCreate',
        description:
          'A new route. It has exactly one target: `service_id`, `versions`, `respond` or `redirect`.',
        examples: [
          { name: 'charges', service_id: exampleId('svc'), timeout_ms: 5000, retry_count: 1 },
        ],
        anyOf: asAlternatives(TARGET_FIELDS),
      }),
    /** A route of a declared configuration. */
    declared: objectField(fields)
      .omit({ service_id: true, versions: true, mirror: true })
      .extend({
        locations: keptLocationsField,
        service: displayNameField
          .nullable()
          .optional()
          .meta({
            description: 'The name of the service that handles the requests.',
            examples: ['payments'],
          }),
        versions: declaredVersionsField
          .nullable()
          .optional()
          .meta({
            description: 'The services that share the requests, with their weights.',
            examples: [[{ name: 'stable', service: 'payments', weight: 100 }]],
          }),
        mirror: declaredMirrorField.meta({
          description: 'The service that gets copies of the requests.',
          examples: [null, { service: 'payments-next', percent: 5, max_body_bytes: 65_536 }],
        }),
      })
      .refine(hasOneOf(DECLARED_TARGET_FIELDS), oneOf(DECLARED_TARGET_FIELDS))
      .superRefine(notTwoOf(DECLARED_TARGET_FIELDS))
      .superRefine(refuseContradictions)
      .superRefine(refuseReserved)
      .meta({
        id: 'DeclaredRoute',
        description: 'A route by its name. A setting that is left out gets its default.',
        anyOf: asAlternatives(DECLARED_TARGET_FIELDS),
        examples: [{ name: 'charges', service: 'payments', timeout_ms: 5000 }],
      }),
    change: objectField({ ...changeShape(fields), ...readOnlyShape(READ_ONLY_ROUTE_FIELDS) })
      .superRefine(notTwoOf(TARGET_FIELDS))
      .superRefine(refuseReserved)
      .meta({
        id: 'RouteUpdate',
        description: 'The fields to change.',
        examples: [{ timeout_ms: 5000, rate_limit: { limit: 1000 } }],
      }),
  };
}

type RouteSchemas = ReturnType<typeof routeSchemas>;
export type RouteReplaceInput = z.output<RouteSchemas['replace']>;
export type RouteInput = z.output<RouteSchemas['create']>;
export type RouteChange = z.output<RouteSchemas['change']>;

/** The settings of a route. */
export type RouteSettings = z.output<z.ZodObject<typeof storedRouteFields>>;

/** A stored route. */
export interface Route extends RouteSettings, RowFields {
  readonly id: string;
  readonly environment: string;
}

/** The settings of a PUT. */
export function replacedSettings(name: string, body: RouteReplaceInput): ReplacedSettings {
  return {
    ...settingsOf({ ...body, name, ...targetOf(body) } as RouteSettings),
    locations: body.locations,
  };
}

/** Settings that replace those of a route. */
export type ReplacedSettings = Omit<RouteSettings, 'locations'> & {
  readonly locations?: RouteSettings['locations'] | undefined;
};

/** The settings of a route after a PUT or an apply. What is left out gets its default; only `locations` stays as it was. */
export function settingsAfter(settings: ReplacedSettings, before: Route | null): RouteSettings {
  const { locations = before === null ? 'map' : settingsOf(before).locations } = settings;
  return { ...settings, locations };
}

/** The settings of a new route. */
export function newSettings(body: RouteInput): RouteSettings {
  return settingsOf({ ...body, ...targetOf(body) });
}

/**
 * The settings after a change. Omitted fields keep their values; `auth`, targets and lists are replaced, objects are merged.
 * The result has no target if the change removes it without a replacement.
 */
export function changeRoute(before: RouteSettings, change: RouteChange): RouteSettings {
  const target: RouteTarget = changeTarget(before, change);
  return { ...applyChange(storedRouteFields, settingsOf(before), change), ...target };
}

/** The settings of a route without the fields that the gateway sets. A row may be older than some settings. */
export function settingsOf(route: RouteSettings): RouteSettings {
  const whole = withDefaults(storedRouteFields, route);
  const names = Object.keys(storedRouteFields) as (keyof RouteSettings)[];
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as unknown as RouteSettings;
}

/** The schema of `routeView`. */
export const routeViewSchema = z
  .object({
    id: idView('rte', 'The id of the route.'),
    environment: z
      .string()
      .meta({ description: 'The environment of the route.', examples: ['production'] }),
    ...viewShape(storedRouteFields),
    ...rowFields,
  })
  .meta({ id: 'Route', description: 'How requests to `/v1/proxy/{name}` are handled.' });

export type RouteView = z.output<typeof routeViewSchema>;

/**
 * A route as the API shows it. A row may be older than some settings.
 *
 * @throws GatewayError resource_unreadable
 */
export function routeView(route: Route): RouteView {
  return readStored('route', route, () =>
    routeViewSchema.parse(withDefaults(storedRouteFields, route)),
  );
}

/** A route as audit events show it. */
export function auditedRoute(route: Route): object {
  return auditedOr(route, () => routeView(route));
}
