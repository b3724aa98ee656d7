import { z } from 'zod';
import { objectField } from '../definitions/fields.ts';
import { corsField } from '../definitions/route-cors.ts';
import { isOnePath, oneMatch } from '../definitions/route-match.ts';
import { storedRouteFields } from '../definitions/route.ts';
import { servedAs, servedShape } from '../definitions/served-shape.ts';
import { healthCheckField } from '../definitions/service-health-check.ts';
import { upstreamFields } from '../definitions/service-upstreams.ts';
import { serviceFields } from '../definitions/service.ts';
import { formatField } from '../formats.ts';
import { HTTP_TOKEN } from '../http/headers.ts';
import { sealedSecretSchema } from '../secrets/secret-vault.ts';
import { JWT_ALGORITHMS } from '../tokens/jwt-algorithms.ts';

/**
 * The format of the configuration that data planes run: of snapshots, their pointers and the entries of the
 * log. Readers ignore fields that they do not know, so a field can be added without a new number. If an older
 * data plane would serve requests wrongly without the field, the elements that have it name a newer format: that
 * data plane then leaves them out, and requests to such a route are refused. If it would serve the others
 * wrongly too, the number of the snapshot is raised: it refuses the configuration and keeps the one that it has.
 */
export const SNAPSHOT_FORMAT = 1;

/**
 * The format of an element that an older data plane must not use: a route that rewrites requests. Without rewriting, a
 * caller could reach another path or put another value in the place of one that the route sets.
 */
export const ELEMENT_FORMAT = 2;

/** TLS settings for connections to the upstreams of a service. */
const tlsSchema = z.object({
  ca_pem: z.string().optional(),
  server_name: z.string().optional(),
  client_certificate: z.object({ cert_pem: z.string(), key: sealedSecretSchema }).optional(),
});

const upstreamSchema = z.object({ id: z.string(), ...servedShape(upstreamFields) });

const healthCheckSchema = z.object({
  ...servedShape(healthCheckField.shape),
  /** Could not be sent as the target of a request otherwise. */
  path: z.string().regex(/^\/[!-~]*$/),
  /** A body may leave it out; a stored service has it. */
  timeout_ms: z.int().min(1),
});

/**
 * The format that a reader of this element must know, if it is newer than that of the snapshot: an older reader would use
 * the element wrongly. That reader leaves out this element only. First in each element, so that it is checked first.
 */
const elementFormat = formatField(ELEMENT_FORMAT).optional();

/** Without what this form has in another way: names are not checked again, and the path is in the health check. */
const servedServiceFields = objectField(serviceFields).omit({ name: true, health_path: true });

export const serviceSchema = z.object({
  format: elementFormat,
  id: z.string(),
  name: z.string(),
  revision: z.int(),
  upstreams: z.array(upstreamSchema).min(1),
  ...servedShape(servedServiceFields.shape, { health_check: healthCheckSchema }),
  /** Undefined: requests are sent without a credential. */
  credential: sealedSecretSchema.optional(),
  /** Undefined: the data plane's own root certificates, the host of the URL as server name, no client certificate. */
  tls: tlsSchema.optional(),
});

const versionSchema = z.object({
  /** null: the only version of a route that names a service instead of versions. */
  name: z.string().nullable(),
  service_id: z.string(),
  /** 0: used only if the caller asks for this version. */
  weight: z.int().min(0),
});

/**
 * How the callers of a route authenticate. A reader that does not know the type cannot use the route: without
 * authentication the route would be open to everybody.
 */
export const authSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('token') }),
  z.object({ type: z.literal('api_key') }),
  z.object({ type: z.literal('none') }),
  z.object({
    type: z.literal('jwt'),
    issuer: z.string(),
    /** The claim `aud` must contain one of these. */
    audience: z.array(z.string()).min(1),
    jwks_url: z.string(),
    algorithms: z.array(z.enum(JWT_ALGORITHMS)).min(1),
    /** `values` null: the claim must be present, with any value; else its value must be one of these. */
    required_claims: z.array(
      z.object({
        name: z.string(),
        values: z
          .array(z.union([z.string(), z.number(), z.boolean()]))
          .min(1)
          .nullable(),
      }),
    ),
  }),
]);

const { paths: pathsField } = oneMatch.shape;

/** A path of a kind that a reader does not know would else stand for every path. */
export const matchesSchema = servedAs(
  storedRouteFields.match,
  z.array(
    z.object(
      servedShape(oneMatch.shape, {
        paths: servedAs(
          pathsField,
          z.array(
            z.object(servedShape(pathsField.unwrap().element.shape)).refine(isOnePath, {
              error: 'has a path of an unknown kind',
            }),
          ),
        ),
      }),
    ),
  ),
);

const tokens = z.array(z.string().regex(HTTP_TOKEN));

/** Names that are no tokens could not be sent in a field. */
const corsSchema = servedAs(
  storedRouteFields.cors,
  z.object(
    servedShape(corsField.shape, {
      methods: servedAs(corsField.shape.methods, tokens),
      headers: servedAs(corsField.shape.headers, tokens),
      expose: servedAs(corsField.shape.expose, tokens),
    }),
  ),
);

/** As above: only active routes are published, each with a list of versions, which is empty if it has no service. */
const servedRouteFields = objectField(storedRouteFields).omit({
  name: true,
  status: true,
  service_id: true,
  versions: true,
});

export const routeSchema = z.object({
  format: elementFormat,
  id: z.string(),
  name: z.string(),
  revision: z.int(),
  /**
   * Empty if the route answers itself. A reader that does not know in which way cannot use the route: it finds no version
   * then.
   */
  versions: z.array(versionSchema),
  ...servedShape(servedRouteFields.shape, {
    /** A method that is no token could not be sent in `Allow`. */
    methods: servedAs(storedRouteFields.methods, z.array(z.string().regex(HTTP_TOKEN))),
    match: matchesSchema,
    cors: corsSchema,
    auth: authSchema,
  }),
});

export const tokenSchema = z.object({
  format: elementFormat,
  id: z.string(),
  /**
   * SHA-256 of each valid secret of this token, in hex, with the time when it expires (ms since the Unix
   * epoch). A rotated token has two secrets during its grace period.
   */
  secrets: z.array(z.object({ sha256: z.string(), expires_at_ms: z.number().nullable() })),
  environments: z.array(z.string()),
  routes: z.array(z.string()),
  scopes: z.array(z.string()),
});

export const snapshotSchema = z.object({
  format: formatField(SNAPSHOT_FORMAT),
  environment: z.string(),
  /**
   * The id of the environment if another one had its name before. What outlives a configuration, such as quotas and
   * idempotency keys, then belongs to this id; without it, to the name.
   */
  environment_id: z.string().optional(),
  /** Increases with every publication of the environment. */
  version: z.int().min(1),
  services: z.array(serviceSchema),
  routes: z.array(routeSchema),
  tokens: z.array(tokenSchema),
});

/** A snapshot whose services, routes and tokens are not validated yet: an invalid one does not concern the others. */
export const snapshotHeadSchema = snapshotSchema.extend({
  services: z.array(z.unknown()),
  routes: z.array(z.unknown()),
  tokens: z.array(z.unknown()),
});

/** As a control plane publishes it. */
export type Snapshot = z.infer<typeof snapshotSchema>;
export type SnapshotService = z.infer<typeof serviceSchema>;
export type SnapshotTls = z.infer<typeof tlsSchema>;
export type SnapshotUpstream = z.infer<typeof upstreamSchema>;
export type SnapshotLimits = SnapshotService['limits'];
export type SnapshotRoute = z.infer<typeof routeSchema>;
export type SnapshotVersion = z.infer<typeof versionSchema>;
export type SnapshotAuth = z.infer<typeof authSchema>;
export type SnapshotToken = z.infer<typeof tokenSchema>;

/** The KV entry of an environment: the object with its newest snapshot, signed. */
export const pointerSchema = z.object({
  format: formatField(SNAPSHOT_FORMAT),
  environment: z.string(),
  version: z.int().min(1),
  /** Name of the object, which is the snapshot's JSON compressed with gzip. */
  object: z.string(),
  /** SHA-256 of the object's bytes, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Id of the master key from which the signing key was derived. */
  key_id: z.string(),
  /** HMAC-SHA-256 of the other fields, hex. */
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

export type SnapshotPointer = z.infer<typeof pointerSchema>;
