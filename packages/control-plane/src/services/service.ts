import { serviceFields } from '@gateway/shared/definitions/service';
import {
  WEBSOCKETS_NEED_HTTP2,
  websocketProtocolFault,
} from '@gateway/shared/definitions/service-protocol';
import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import {
  applyChange,
  changeShape,
  mergedFields,
  pickFields,
  viewOf,
  viewShape,
  withDefaults,
} from '@gateway/shared/definitions/derived-schemas';
import {
  displayNameField,
  environmentNameField,
  objectField,
} from '@gateway/shared/definitions/fields';
import { idView, ROW_FIELDS, rowFields, type RowFields } from '../fields/response-fields.ts';
import type { UpstreamProtocol } from '@gateway/shared/definitions/service-protocol';
import {
  CHECK_TYPE_FAULT,
  isCheckContradiction,
  newHealthCheckField,
  type HealthCheck,
} from '@gateway/shared/definitions/service-health-check';
import { readOnlyShape } from '../fields/round-trip.ts';
import {
  credentialField,
  credentialViewSchema,
  type CredentialInput,
  type StoredCredential,
} from './service-credential.ts';
import { serviceTlsSchema, tlsField, type TlsInput, type TlsSettings } from './service-tls.ts';
import { contradictsUpstreams, hasUpstreams, upstreamsOf } from './service-upstreams.ts';
import {
  UPSTREAMS_DESCRIPTION,
  upstreamFields,
  upstreamsField,
  type Upstream,
} from '@gateway/shared/definitions/service-upstreams';
import { urlField } from '@gateway/shared/definitions/url-field';
import { auditedOr, readStored } from '../fields/unreadable.ts';

const URL_META = {
  description:
    'The URL of the first upstream. In a body it is short for `upstreams` with one item.',
  examples: ['https://payments.internal:8443'],
};

export const READ_ONLY_SERVICE_FIELDS = ['id', 'environment', 'status', ...ROW_FIELDS] as const;

/** The fields of a service whose objects a PATCH merges. */
export const MERGED_SERVICE_FIELDS = new Set([...mergedFields(serviceFields), 'tls']);

interface CheckedService {
  readonly health_check: Pick<HealthCheck, 'type'>;
  readonly protocol: UpstreamProtocol;
}

/** The bodies that create and change a service; addresses in `deny` are refused for upstreams. */
export function serviceSchemas(deny: AddressRanges) {
  const given = {
    url: urlField(deny).optional().meta(URL_META),
    upstreams: upstreamsField(deny).optional(),
    credential: credentialField.optional(),
    tls: tlsField.optional(),
  };
  const whole = {
    ...serviceFields,
    health_check: newHealthCheckField.prefault({}),
    ...given,
  };
  const noUpstreams = { path: ['url'], error: 'is required unless `upstreams` is given' };
  const notBoth = {
    path: ['url'],
    error: 'must be the url of the first item of `upstreams`, or be left out',
  };
  const noHttp2 = { path: ['websocket_protocol'], error: WEBSOCKETS_NEED_HTTP2 };
  const noGrpc = { path: ['health_check', 'type'], error: CHECK_TYPE_FAULT };
  const checksInItsProtocol = ({ health_check: check, protocol }: CheckedService) =>
    !isCheckContradiction(check, protocol);
  return {
    create: objectField({
      ...whole,
      environment: environmentNameField.optional().meta({
        description:
          'The environment of the service. It may be left out if the token covers only one.',
        examples: ['production'],
      }),
    })
      .refine((body) => !contradictsUpstreams(body), notBoth)
      .refine(hasUpstreams, noUpstreams)
      .refine((body) => websocketProtocolFault(body) === undefined, noHttp2)
      .refine(checksInItsProtocol, noGrpc)
      .meta({
        id: 'ServiceCreate',
        description:
          'A new service. It has `url`, `upstreams`, or both if `url` is that of the first upstream.',
        examples: [
          { name: 'payments', environment: 'production', url: 'https://payments.internal:8443' },
        ],
      }),
    /** `name` and `environment` are those of the path and the query. */
    replace: objectField({
      ...whole,
      ...readOnlyShape(READ_ONLY_SERVICE_FIELDS),
      name: displayNameField.optional().meta({
        description: 'The name that is in the path.',
        examples: ['payments'],
      }),
      environment: environmentNameField.optional().meta({
        description: 'The environment that is in the query.',
        examples: ['production'],
      }),
    })
      .refine((body) => !contradictsUpstreams(body), notBoth)
      .refine(hasUpstreams, noUpstreams)
      .refine((body) => websocketProtocolFault(body) === undefined, noHttp2)
      .refine(checksInItsProtocol, noGrpc)
      .meta({
        id: 'ServiceReplace',
        description: 'All settings of a service. A setting that is left out gets its default.',
        anyOf: [{ required: ['url'] }, { required: ['upstreams'] }],
        examples: [{ url: 'https://payments.internal:8443', health_path: '/ready' }],
      }),
    /** A service of a declared configuration. */
    declared: objectField(whole)
      .refine((body) => !contradictsUpstreams(body), notBoth)
      .refine(hasUpstreams, noUpstreams)
      .refine((body) => websocketProtocolFault(body) === undefined, noHttp2)
      .refine(checksInItsProtocol, noGrpc)
      .meta({
        id: 'DeclaredService',
        description: 'A service by its name. A setting that is left out gets its default.',
        anyOf: [{ required: ['url'] }, { required: ['upstreams'] }],
        examples: [{ name: 'payments', url: 'https://payments.internal:8443' }],
      }),
    change: objectField({
      ...changeShape(serviceFields),
      ...given,
      ...readOnlyShape(READ_ONLY_SERVICE_FIELDS),
    })
      .refine((body) => !contradictsUpstreams(body), notBoth)
      .meta({
        id: 'ServiceUpdate',
        description: 'The fields to change.',
        examples: [{ health_path: '/ready', limits: { max_in_flight: 200 } }],
      }),
  };
}

export type ServiceSchemas = ReturnType<typeof serviceSchemas>;
export type ServiceReplaceInput = z.output<ServiceSchemas['replace']>;
export type ServiceInput = z.output<ServiceSchemas['create']>;
export type ServiceChange = z.output<ServiceSchemas['change']>;

/** The settings of a service, as stored. */
export interface ServiceSettings
  extends Pick<ServiceInput, keyof typeof serviceFields>, TlsSettings {
  readonly upstreams: readonly Upstream[];
  readonly credential: StoredCredential | null;
}

/** A stored service. */
export interface Service extends ServiceSettings, RowFields {
  readonly id: string;
  readonly environment: string;
}

/** Encrypts a credential for the service. */
export type SealCredential = (input: CredentialInput) => StoredCredential;

/** The TLS settings after a change, with the private key encrypted. */
export type SealTls = (input: TlsInput | undefined, before: TlsSettings) => TlsSettings;

/** The credential after a change: null removes it, an omitted field keeps it. */
function credentialOf(
  body: { readonly credential?: CredentialInput | null | undefined },
  before: StoredCredential | null,
  seal: SealCredential,
): StoredCredential | null {
  if (body.credential === undefined) return before;
  return body.credential === null ? null : seal(body.credential);
}

/** The settings after a change. Omitted fields keep their values. The caller checks `timeoutFault` and `websocketProtocolFault`. */
export function changeService(
  before: ServiceSettings,
  change: ServiceChange,
  newId: () => string,
  seal: SealCredential,
  sealTls: SealTls,
): ServiceSettings {
  return {
    ...applyChange(serviceFields, before, pickFields(serviceFields, change)),
    upstreams: upstreamsOf(change, before.upstreams, newId) ?? before.upstreams,
    credential: credentialOf(change, before.credential, seal),
    ...sealTls(change.tls, before),
  };
}

export const serviceStatusSchema = z.enum(['unknown', 'healthy', 'degraded', 'unhealthy']).meta({
  description:
    'The health of the upstreams as the live data planes see it. `degraded`: some are unhealthy. `unknown`: no check has ended yet.',
  examples: ['healthy'],
});

/** The health of a service's upstreams, as the live data planes report it. */
export type ServiceStatus = z.output<typeof serviceStatusSchema>;

/** The schema of `serviceView`. */
export const serviceViewSchema = z
  .object({
    id: idView('svc', 'The id of the service.'),
    environment: z
      .string()
      .meta({ description: 'The environment of the service.', examples: ['production'] }),
    url: z.string().meta(URL_META),
    status: serviceStatusSchema,
    ...viewShape(serviceFields),
    health_check: viewOf(newHealthCheckField.in),
    upstreams: z
      .array(z.object(viewShape(upstreamFields)))
      .meta({ description: UPSTREAMS_DESCRIPTION }),
    credential: credentialViewSchema.nullable().meta({
      description: 'What is known of the credential, without its secret. null: there is none.',
    }),
    tls: serviceTlsSchema,
    ...rowFields,
  })
  .meta({ id: 'Service', description: 'An application behind the gateway.' });

export type ServiceView = z.output<typeof serviceViewSchema>;

/**
 * A service as the API shows it, without any part of a secret.
 *
 * @throws GatewayError resource_unreadable
 */
export function serviceView(service: Service, status: ServiceStatus): ServiceView {
  const whole = withDefaults(serviceFields, service);
  const { health_check: check, health_path, upstreams } = whole;
  return readStored('service', service, () =>
    serviceViewSchema.parse({
      ...whole,
      status,
      url: upstreams[0]?.url ?? '',
      health_check: { ...check, path: check.path ?? health_path },
    }),
  );
}

const auditedServiceSchema = serviceViewSchema.omit({ status: true });

/** A service as audit events show it: without its health, which is not a setting. */
export function auditedService(service: Service): object {
  return auditedOr(service, () => auditedServiceSchema.parse(serviceView(service, 'unknown')));
}
