import { pickFields } from '@gateway/shared/definitions/derived-schemas';
import { serviceFields } from '@gateway/shared/definitions/service';
import type { SealCredential, SealTls, ServiceReplaceInput, ServiceSettings } from './service.ts';
import type { CredentialInput, StoredCredential } from './service-credential.ts';
import { NO_TLS_SETTINGS, type TlsInput, type TlsSettings } from './service-tls.ts';
import { upstreamsOf } from './service-upstreams.ts';

/** The body that replaces a service: what is left out gets its default, or is removed. */
export type ServiceReplacement = Pick<
  ServiceReplaceInput,
  Exclude<keyof typeof serviceFields, 'name'> | 'url' | 'upstreams' | 'credential' | 'tls'
> & { readonly name: string };

/** Secrets of a service that are encrypted, and compared with what a body has. */
export interface ServiceSecrets {
  readonly seal: SealCredential;
  readonly sealTls: SealTls;
  readonly isCredential: (stored: StoredCredential, given: CredentialInput) => boolean;
  readonly isClientKey: (stored: TlsSettings['client_key'], keyPem: string) => boolean;
}

/** Secrets that stay, because the body has them as a response shows them: without the secret. */
export interface KeptSecrets {
  readonly credential: boolean;
  readonly clientCertificate: boolean;
}

export const NONE_KEPT: KeptSecrets = { credential: false, clientCertificate: false };

/**
 * The settings of a service that is created, or replaced whole. A secret that equals the present one keeps its
 * encryption, and an upstream whose url and region stay keeps its id, so the same body twice changes nothing.
 */
export function replaceService(
  current: ServiceSettings | null,
  body: ServiceReplacement,
  kept: KeptSecrets,
  newUpstreamId: () => string,
  secrets: ServiceSecrets,
): ServiceSettings {
  const upstreams = body.upstreams ?? [{ url: body.url ?? '', region: null, weight: 1 }];
  return {
    ...pickFields(serviceFields, body),
    health_check: { ...body.health_check, path: checkPath(current, body) },
    upstreams: upstreamsOf({ upstreams }, current?.upstreams ?? [], newUpstreamId) ?? [],
    credential: credentialOf(current, body.credential, kept, secrets),
    ...tlsSettings(current, body.tls, kept, secrets),
  };
}

/**
 * Why the stored credential cannot stay, if it cannot. Who declares a service whole, without the secret, need not know it: a
 * credential that stays goes only where it goes already. To move it, the secret is given again.
 */
export function credentialFault(
  current: ServiceSettings | null,
  settings: ServiceSettings,
  kept: KeptSecrets,
): string | undefined {
  if (!kept.credential || current === null) return undefined;
  const known = new Set(current.upstreams.map(({ url }) => new URL(url).origin));
  const address = settings.upstreams
    .map(({ url }) => new URL(url).origin)
    .find((one) => !known.has(one));
  if (address === undefined) return undefined;
  return `the stored one is not sent to a new address; give the credential of ${settings.name} again, for ${address}`;
}

/** A default that a response shows is not pinned when it is sent back. */
function checkPath(
  current: ServiceSettings | null,
  { health_check: { path }, health_path }: ServiceReplacement,
): string | null {
  const followed = current?.health_check.path === null;
  return followed && (path === current.health_path || path === health_path) ? null : path;
}

function credentialOf(
  current: ServiceSettings | null,
  given: CredentialInput | null | undefined,
  kept: KeptSecrets,
  secrets: ServiceSecrets,
): StoredCredential | null {
  const stored = current?.credential ?? null;
  if (kept.credential) return stored;
  if (given === null || given === undefined) return null;
  return stored !== null && secrets.isCredential(stored, given) ? stored : secrets.seal(given);
}

function tlsSettings(
  current: ServiceSettings | null,
  given: TlsInput | undefined,
  kept: KeptSecrets,
  secrets: ServiceSecrets,
): TlsSettings {
  const input = given ?? null;
  const stored = current?.tls?.client_certificate ?? null;
  const pair = input?.client_certificate;
  const isSame =
    stored !== null &&
    pair?.cert_pem === stored.cert_pem &&
    secrets.isClientKey(current?.client_key ?? null, pair.key_pem);
  if (input === null || stored === null || !(kept.clientCertificate || isSame)) {
    return secrets.sealTls(input, NO_TLS_SETTINGS);
  }
  const before = {
    tls: { ca_pem: null, server_name: null, client_certificate: stored },
    client_key: current?.client_key ?? null,
  };
  return secrets.sealTls({ ...input, client_certificate: undefined }, before);
}
