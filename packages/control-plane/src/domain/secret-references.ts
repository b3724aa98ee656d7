/**
 * In a declared configuration a secret may be a reference, such as `${PAYMENTS_TOKEN}`. Tools replace it before they
 * send the document. One that arrives means: keep the stored secret. So an export can be applied as it is.
 */
const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

export function isReference(value: unknown): boolean {
  return typeof value === 'string' && REFERENCE.test(value);
}

type Fields = Readonly<Record<string, unknown>>;

/** What a document says of secrets that are references. */
export interface ReferencedSecrets {
  /** The credential without its secret; undefined: it is not a reference. */
  readonly credential: { readonly type: unknown; readonly header: unknown } | undefined;
  /** The certificate whose private key is a reference. */
  readonly certificate: { readonly cert_pem: unknown } | undefined;
}

const NO_REFERENCES: ReferencedSecrets = { credential: undefined, certificate: undefined };

/** The references of a service in a document that is not validated yet. */
export function referencesOf(service: unknown): ReferencedSecrets {
  if (!isObject(service)) return NO_REFERENCES;
  const { credential, tls } = service;
  const certificate = isObject(tls) ? tls['client_certificate'] : undefined;
  return {
    credential:
      isObject(credential) && hasReference(credential)
        ? { type: credential['type'], header: headerOf(credential) }
        : undefined,
    certificate:
      isObject(certificate) && isReference(certificate['key_pem'])
        ? { cert_pem: certificate['cert_pem'] }
        : undefined,
  };
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

/** The names of references of an environment: upper case, and unique. */
export function referenceNames(): (service: string, secret: string) => string {
  const used = new Set<string>();
  return (service, secret) => {
    const base = `${service}_${secret}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const letters = /^[0-9]/.test(base) ? `_${base}` : base;
    let name = letters;
    for (let count = 2; used.has(name); count += 1) name = `${letters}_${count}`;
    used.add(name);
    return `\${${name}}`;
  };
}
