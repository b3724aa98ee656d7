import { didYouMean } from '@gateway/shared/similar/did-you-mean';
import { isReference } from '../fields/reference.ts';
import { credentialField } from './service-credential.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a document says of secrets that are references. */
export interface ReferencedSecrets {
  /** The credential without its secret; undefined: it is not a reference. */
  readonly credential: { readonly type: unknown; readonly header: unknown } | undefined;
  /** The certificate whose private key is a reference. */
  readonly certificate: { readonly cert_pem: unknown } | undefined;
  /** What is wrong with them. The schemas of the document do not see them. */
  readonly faults: readonly ReferenceFault[];
}

/** A field of the service, and the rule that it breaks. */
export interface ReferenceFault {
  readonly path: readonly string[];
  readonly message: string;
}

const NO_REFERENCES: ReferencedSecrets = {
  credential: undefined,
  certificate: undefined,
  faults: [],
};

/** The references of a service in a document that is not validated yet. */
export function referencesOf(service: unknown): ReferencedSecrets {
  if (!isObject(service)) return NO_REFERENCES;
  const { credential, tls } = service;
  const pair = isObject(tls) ? tls['client_certificate'] : undefined;
  const kept = isObject(credential) && hasReference(credential) ? credential : undefined;
  const certificate = isObject(pair) && isReference(pair['key_pem']) ? pair : undefined;
  return {
    credential: kept && { type: kept['type'], header: headerOf(kept) },
    certificate: certificate && { cert_pem: certificate['cert_pem'] },
    faults: [
      ...(kept === undefined ? [] : credentialFaults(kept)),
      ...(certificate === undefined ? [] : certificateFaults(certificate)),
    ],
  };
}

/** The fields of each kind of credential, besides its type. */
const CREDENTIAL_FIELDS = new Map<unknown, readonly string[]>(
  credentialField.unwrap().options.map(({ shape: { type, ...fields } }) => {
    return [type.value, Object.keys(fields)];
  }),
);

function credentialFaults(credential: Fields): ReferenceFault[] {
  const { type, ...given } = credential;
  const fields = CREDENTIAL_FIELDS.get(type) ?? [];
  const faults: ReferenceFault[] = [];
  const fault = (name: string, message: string) => {
    faults.push({ path: ['credential', name], message });
  };
  // The name of an unknown field may be a misplaced secret, so the fault does not repeat it.
  if (Object.keys(given).some((name) => !fields.includes(name))) {
    fault('type', `${String(type)} takes only ${fields.join(' and ')}`);
  }
  for (const name of fields) {
    const value = given[name];
    if (value === undefined) fault(name, 'is required');
    else if (SECRET_FIELDS.includes(name) && !isReference(value)) {
      fault(name, 'is given, but the other secret is a reference; give both, or neither');
    }
  }
  return faults;
}

function certificateFaults({ cert_pem, ...others }: Fields): ReferenceFault[] {
  const path = ['tls', 'client_certificate'];
  const unknown = Object.keys(others).filter((name) => name !== 'key_pem');
  return [
    ...(cert_pem === undefined ? [{ path: [...path, 'cert_pem'], message: 'is required' }] : []),
    ...unknown.map((name) => {
      const message = `is not a known field${didYouMean(name, ['cert_pem', 'key_pem'])}`;
      return { path: [...path, name], message };
    }),
  ];
}

/** A service of a document without the secrets that are references. */
export function withoutReferences(service: unknown): unknown {
  const { credential, certificate } = referencesOf(service);
  if (!isObject(service)) return service;
  const plain = credential === undefined ? service : { ...service, credential: undefined };
  if (certificate === undefined) return plain;
  const tls = { ...(service['tls'] as Fields), client_certificate: undefined };
  return { ...plain, tls };
}

const SECRET_FIELDS = ['token', 'username', 'password', 'value'];

function hasReference(credential: Fields): boolean {
  return SECRET_FIELDS.some((name) => isReference(credential[name]));
}

function headerOf({ type, name }: Fields): unknown {
  if (type !== 'header') return 'authorization';
  return typeof name === 'string' ? name.toLowerCase() : name;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
