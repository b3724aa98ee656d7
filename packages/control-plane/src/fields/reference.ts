/**
 * In a declared configuration a secret may be a reference, such as `${PAYMENTS_TOKEN}`. Tools replace it before they
 * send the document. One that arrives means: keep the stored secret. So an export can be applied as it is.
 */
const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

export function isReference(value: unknown): boolean {
  return typeof value === 'string' && REFERENCE.test(value);
}

/** gwctl calls with it: as the secret of a service, an upstream would get it. */
const NOT_OF_A_SERVICE = 'GATEWAY_TOKEN';

/** The names of references of an environment: upper case, and unique. */
export function referenceNames(): (service: string, secret: string) => string {
  const used = new Set([NOT_OF_A_SERVICE]);
  return (service, secret) => {
    const base = `${service}_${secret}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const letters = /^[0-9]/.test(base) ? `_${base}` : base;
    let name = letters;
    for (let count = 2; used.has(name); count += 1) name = `${letters}_${count}`;
    used.add(name);
    return `\${${name}}`;
  };
}
