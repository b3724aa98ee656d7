import { SERVICE_FORM } from '@gateway/client/form-fields';
import { isSame, valueAt, withValue, type Draft } from '../../ui/form/draft.ts';
import { ShellValue } from '../../ui/form/preview/form-preview.ts';
import { NEW_UPSTREAM, ownService } from './service-draft.ts';

/** The secrets of a service, and how their variables end. A token has none of the characters that JSON escapes (RFC 6750). */
const SECRETS = [
  ['credential.token', 'token'],
  ['credential.username', 'username'],
  ['credential.password', 'password'],
  ['credential.value', 'value'],
] as const;
const KEY = 'tls.client_certificate.key_pem';

/** A variable of the shell for a secret, as an export names it. */
function variableOf(service: unknown, secret: string): string {
  const name = `${typeof service === 'string' ? service : ''}_${secret}`
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_');
  // It is the token of the management API.
  if (name === 'GATEWAY_TOKEN') return `${name}_2`;
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** A service as a file for `gwctl apply` has it: without defaults, and with references in place of secrets. */
export function serviceManifest(environment: string, draft: Draft): object {
  const { name, upstreams, url: _url, credential, tls, ...settings } = ownService(draft);
  const service = {
    name: name ?? '',
    ...declaredUpstreams(upstreams),
    ...inOrder(settings),
    ...(credential === undefined ? {} : { credential: declaredCredential(name, credential) }),
    ...declaredTls(name, tls),
  };
  return { environment, services: [service] };
}

function inOrder(settings: Draft): Draft {
  const names = Object.keys(SERVICE_FORM).filter((name) => name in settings);
  return Object.fromEntries(names.map((name) => [name, settings[name]]));
}

/** A single upstream without region and weight is its URL. */
function declaredUpstreams(value: unknown): Draft {
  const upstreams: readonly unknown[] = Array.isArray(value) ? value : [];
  const [first] = upstreams;
  const url = valueAt(first, 'url');
  if (upstreams.length === 1 && isSame(first, { ...NEW_UPSTREAM, url })) return { url };
  return {
    upstreams: upstreams.map((upstream) => {
      const [region, weight] = [valueAt(upstream, 'region'), valueAt(upstream, 'weight')];
      return {
        url: valueAt(upstream, 'url'),
        ...(region === null || region === undefined ? {} : { region }),
        ...(weight === 1 ? {} : { weight }),
      };
    }),
  };
}

const reference = (service: unknown, secret: string) => `\${${variableOf(service, secret)}}`;

/** One that is stored has the name of its header, one that is typed its secret. */
function declaredCredential(service: unknown, credential: unknown): Draft {
  const type = valueAt(credential, 'type');
  switch (type) {
    case 'basic':
      return {
        type,
        username: reference(service, 'username'),
        password: reference(service, 'password'),
      };
    case 'header':
      return {
        type,
        name: valueAt(credential, 'name') ?? valueAt(credential, 'header'),
        value: reference(service, 'value'),
      };
    default:
      return { type, token: reference(service, 'token') };
  }
}

function declaredTls(service: unknown, tls: unknown): Draft {
  if (typeof tls !== 'object' || tls === null) return {};
  const certificate = valueAt(tls, 'client_certificate');
  const parts = Object.entries({
    ca_pem: valueAt(tls, 'ca_pem'),
    server_name: valueAt(tls, 'server_name'),
    client_certificate: certificate && {
      cert_pem: valueAt(certificate, 'cert_pem'),
      key_pem: reference(service, 'client_key'),
    },
  }).filter(([, value]) => value !== null && value !== undefined);
  return parts.length === 0 ? {} : { tls: Object.fromEntries(parts) };
}

/** The value of a variable within a text of JSON. */
function inJson(variable: string, secret: string): string {
  if (secret === 'token') return `$${variable}`;
  return String.raw`$(printf %s "$${variable}" | sed 's/[\\"]/\\&/g')`;
}

/** The body of a call with what a shell puts in in place of secrets. @param service its name */
export function withoutSecrets(service: unknown, body: Draft): Draft {
  const texts = SECRETS.reduce(
    (now, [path, secret]) =>
      valueAt(now, path) === undefined
        ? now
        : withValue(now, path, new ShellValue(inJson(variableOf(service, secret), secret))),
    body,
  );
  // JSON has \n in place of the ends of lines.
  return valueAt(texts, KEY) === undefined
    ? texts
    : withValue(texts, KEY, new ShellValue(String.raw`$(awk 1 ORS='\\n' client-key.pem)`));
}
