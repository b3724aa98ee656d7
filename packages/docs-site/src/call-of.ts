/** A field of the form of a call. */
export interface CallField {
  readonly name: string;
  /** Empty: it is left out. */
  readonly value: string;
  readonly in: 'path' | 'query' | 'header';
}

/** What is sent. */
export interface Call {
  /** The path with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The call that the fields of a form make of a path such as `/v1/routes/{id}`. Values are encoded, so that none of them can
 * change which operation is called.
 *
 * @throws Error if a part of the path is `.` or `..`
 */
export function callOf(path: string, fields: readonly CallField[]): Call {
  const given = fields.filter(({ value }) => value !== '');
  let target = path;
  for (const { name, value } of given.filter((one) => one.in === 'path')) {
    // A browser resolves them also if they are encoded, so another path would be called.
    if (/^\.{1,2}$/.test(value)) throw new Error(`${name} must not be ${value}`);
    target = target.replace(`{${name}}`, () => encodeURIComponent(value));
  }
  const query = new URLSearchParams(
    given.filter((one) => one.in === 'query').map(({ name, value }) => [name, value]),
  ).toString();
  return {
    target: query === '' ? target : `${target}?${query}`,
    headers: Object.fromEntries(
      given.filter((one) => one.in === 'header').map(({ name, value }) => [name, value]),
    ),
  };
}
