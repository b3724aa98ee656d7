/** Scopes that belong together, by what a token is for. */
export interface Preset {
  readonly value: string;
  readonly label: string;
  /** What such a token is for. */
  readonly purpose: string;
  readonly scopes: readonly string[];
}

/** The usual kinds of tokens. */
export const PRESETS: readonly Preset[] = [
  {
    value: 'caller',
    label: 'Caller',
    purpose: 'A program that calls routes.',
    scopes: ['proxy'],
  },
  {
    value: 'read',
    label: 'Read only',
    purpose: 'Somebody who looks at the configuration, at requests and at changes.',
    scopes: [
      'services:read',
      'routes:read',
      'requests:read',
      'tokens:read',
      'config:read',
      'audit:read',
    ],
  },
  {
    value: 'ci',
    label: 'CI',
    purpose: 'A pipeline that applies services and routes, and waits until they are served.',
    scopes: ['services:read', 'services:write', 'routes:read', 'routes:write', 'config:read'],
  },
  {
    value: 'admin',
    label: 'Admin',
    purpose: 'Everything, also what is added later.',
    scopes: ['*'],
  },
];

/** The preset with exactly these scopes, in any order. */
export function presetOf(scopes: readonly string[]): Preset | undefined {
  const given = new Set(scopes);
  return PRESETS.find(
    (preset) =>
      preset.scopes.length === given.size && preset.scopes.every((scope) => given.has(scope)),
  );
}
