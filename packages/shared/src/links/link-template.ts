/** What a link to another tool can name, as `{name}` in its template. */
export const LINK_PLACEHOLDERS = [
  'trace_id',
  'request_id',
  'environment',
  'route',
  'version',
  'service',
  'token_id',
  'from_ms',
  'to_ms',
] as const;

export type LinkPlaceholder = (typeof LINK_PLACEHOLDERS)[number];

/** What is known about the subject of a link; null or absent: nothing. Times are milliseconds since the Unix epoch. */
export type LinkValues = Readonly<Partial<Record<LinkPlaceholder, string | number | null>>>;

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The placeholders of a template, also those that do not exist. */
export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/**
 * The address that a template makes of these values, which are percent-encoded so that none can change more of the address
 * than its place. undefined: a value that the template needs is not known.
 */
export function fillLink(template: string, values: LinkValues): string | undefined {
  const known = new Map(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));
  const needed = placeholdersOf(template);
  if (needed.some((name) => (known.get(name) ?? '') === '')) return undefined;
  return template.replaceAll(PLACEHOLDER, (_text, name: string) =>
    encodeURIComponent((known.get(name) ?? '').toWellFormed()),
  );
}
