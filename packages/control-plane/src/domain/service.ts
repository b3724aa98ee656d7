import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import { z } from 'zod';
import {
  displayNameField,
  environmentNameField,
  integerField,
  objectField,
  regionField,
  textField,
} from './fields.ts';
import {
  credentialField,
  type CredentialInput,
  type StoredCredential,
} from './service-credential.ts';
import { tlsField, type ServiceTls, type TlsInput, type TlsSettings } from './service-tls.ts';
import { urlField } from './url-field.ts';

/** A place where a service runs. Health and connection pools of data planes are keyed by its id. */
export interface Upstream {
  readonly id: string;
  readonly url: string;
  readonly region: string | null;
  readonly weight: number;
}

const MAX_UPSTREAMS = 64;

const pathField = textField(
  /^\/[\x21\x22\x24-\x7e]{0,1023}$/,
  'must be a path of at most 1024 characters that begins with / and holds no space and no #',
);

const healthCheckFields = {
  /** null: the service's health_path. */
  path: pathField.nullable(),
  interval_ms: integerField(500, 300_000),
  timeout_ms: integerField(1, 300_000),
  healthy_threshold: integerField(1, 20),
  unhealthy_threshold: integerField(1, 20),
};

const DEFAULT_CHECK_TIMEOUT_MS = 2000;

const healthCheckSchema = objectField({
  path: healthCheckFields.path.default(null),
  interval_ms: healthCheckFields.interval_ms.default(5000),
  timeout_ms: healthCheckFields.timeout_ms
    .optional()
    .meta({ description: `${DEFAULT_CHECK_TIMEOUT_MS}, or interval_ms where that is less.` }),
  healthy_threshold: healthCheckFields.healthy_threshold.default(2),
  unhealthy_threshold: healthCheckFields.unhealthy_threshold.default(3),
})
  .transform((check) => {
    const timeout_ms = check.timeout_ms ?? Math.min(DEFAULT_CHECK_TIMEOUT_MS, check.interval_ms);
    return { ...check, timeout_ms };
  })
  .superRefine((check, context) => {
    const message = timeoutFault(check);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', path: ['timeout_ms'], message });
    }
  });

export type HealthCheck = Readonly<z.output<typeof healthCheckSchema>>;

/** Checks of one upstream must not overlap. Gives what is wrong with `health_check.timeout_ms`, if anything. */
export function timeoutFault(
  check: Pick<HealthCheck, 'interval_ms' | 'timeout_ms'>,
): string | undefined {
  if (check.timeout_ms <= check.interval_ms) return undefined;
  return `must be at most interval_ms, which is ${check.interval_ms}`;
}

function upstreamsField(deny: AddressRanges) {
  const error = `must be a list of 1 to ${MAX_UPSTREAMS} items`;
  const upstream = objectField({
    url: urlField(deny),
    region: regionField.nullable().default(null),
    weight: integerField(1, 1000).default(1),
  });
  return z
    .array(upstream, { error })
    .min(1, { error })
    .max(MAX_UPSTREAMS, { error })
    .superRefine((items, context) => {
      const seen = new Set<string>();
      items.forEach((item, index) => {
        const place = placeOf(item);
        if (seen.has(place)) {
          const message = 'has the url and region of another upstream; use weight instead';
          context.addIssue({ code: 'custom', path: [index], message });
        }
        seen.add(place);
      });
    });
}

/** What an upstream is known by, from one state of a service to the next. */
export function placeOf(upstream: {
  readonly url: string;
  readonly region: string | null;
}): string {
  return JSON.stringify([upstream.url, upstream.region]);
}

function bothGiven(body: { url?: unknown; upstreams?: unknown }): boolean {
  return body.url !== undefined && body.upstreams !== undefined;
}

/** The bodies that create and change a service; `deny` says where no upstream may be. */
export function serviceSchemas(deny: AddressRanges) {
  const fields = {
    name: displayNameField,
    url: urlField(deny).optional(),
    upstreams: upstreamsField(deny).optional(),
    health_path: pathField,
    credential: credentialField.optional(),
    tls: tlsField.optional(),
  };
  const eitherMessage = 'must be left out where `upstreams` is given';
  return {
    create: objectField({
      ...fields,
      environment: environmentNameField.optional(),
      health_path: pathField.default('/healthz'),
      health_check: healthCheckSchema.prefault({}),
    })
      .refine((body) => !bothGiven(body), { path: ['url'], error: eitherMessage })
      .refine((body) => body.url !== undefined || body.upstreams !== undefined, {
        path: ['url'],
        error: 'is required unless `upstreams` is given',
      }),
    /** Every field may be left out; `health_check` is merged into what is stored (RFC 7396). */
    change: objectField({
      ...fields,
      name: fields.name.optional(),
      health_path: pathField.optional(),
      health_check: objectField(healthCheckFields).partial().optional(),
    }).refine((body) => !bothGiven(body), { path: ['url'], error: eitherMessage }),
  };
}

export type ServiceSchemas = ReturnType<typeof serviceSchemas>;
export type ServiceInput = z.output<ServiceSchemas['create']>;
export type ServiceChange = z.output<ServiceSchemas['change']>;

/** What an operator sets of a service. */
export interface ServiceSettings {
  readonly name: string;
  readonly health_path: string;
  readonly health_check: HealthCheck;
  readonly upstreams: readonly Upstream[];
  readonly credential: StoredCredential | null;
  readonly tls: ServiceTls | null;
  /** Of the client certificate of `tls`. */
  readonly client_key: SealedSecret | null;
}

export interface Service extends ServiceSettings {
  readonly id: string;
  readonly environment: string;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type UpstreamsInput = Pick<ServiceInput, 'url' | 'upstreams'>;

/**
 * The upstreams that a body asks for. One whose url and region were there before keeps its id, so
 * that data planes keep what they know of it; undefined where the body asks for none.
 */
export function upstreamsOf(
  body: UpstreamsInput,
  before: readonly Upstream[],
  newId: () => string,
): readonly Upstream[] | undefined {
  const kept = new Map(before.map((upstream) => [placeOf(upstream), upstream.id]));
  const wanted =
    body.upstreams ?? (body.url === undefined ? [] : [{ url: body.url, region: null, weight: 1 }]);
  if (wanted.length === 0) return undefined;
  return wanted.map(({ url, region, weight }) => {
    return { id: kept.get(placeOf({ url, region })) ?? newId(), url, region, weight };
  });
}

/** Seals a credential that was given. */
export type SealGiven = (input: CredentialInput) => StoredCredential;

/** The settings of TLS after what is given, the key sealed. */
export type SealTls = (input: TlsInput | undefined, before: TlsSettings) => TlsSettings;

/** What a body says of the credential, sealed: null removes it, left out it stays as it was. */
export function credentialOf(
  body: { readonly credential?: CredentialInput | null | undefined },
  before: StoredCredential | null,
  seal: SealGiven,
): StoredCredential | null {
  if (body.credential === undefined) return before;
  return body.credential === null ? null : seal(body.credential);
}

/** The settings after a change: what it leaves out stays as it was. See `timeoutFault`. */
export function changeService(
  before: ServiceSettings,
  change: ServiceChange,
  newId: () => string,
  seal: SealGiven,
  sealTls: SealTls,
): ServiceSettings {
  return {
    name: change.name ?? before.name,
    health_path: change.health_path ?? before.health_path,
    health_check: changeHealthCheck(before.health_check, change.health_check ?? {}),
    upstreams: upstreamsOf(change, before.upstreams, newId) ?? before.upstreams,
    credential: credentialOf(change, before.credential, seal),
    ...sealTls(change.tls, before),
  };
}

function changeHealthCheck(
  before: HealthCheck,
  change: NonNullable<ServiceChange['health_check']>,
): HealthCheck {
  return {
    path: change.path === undefined ? before.path : change.path,
    interval_ms: change.interval_ms ?? before.interval_ms,
    timeout_ms: change.timeout_ms ?? before.timeout_ms,
    healthy_threshold: change.healthy_threshold ?? before.healthy_threshold,
    unhealthy_threshold: change.unhealthy_threshold ?? before.unhealthy_threshold,
  };
}
