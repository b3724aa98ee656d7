import { eachField, type HeaderFields } from '@gateway/http/fields/header-fields';

/** What becomes of the value of a cookie; undefined: it is left out. */
export type ChangeValue = (value: string) => string | undefined;

/** The values of the cookies with this name that a request has, in order, without quotes. */
export function cookieValues(fields: HeaderFields, cookie: string): string[] {
  const values: string[] = [];
  eachField(fields, (name, line) => {
    if (!isNamed(name, 'cookie')) return;
    for (const pair of line.split(';')) {
      const value = valueOf(pair, cookie);
      if (value !== undefined) values.push(unquoted(value));
    }
  });
  return values;
}

/** The fields of a request with the cookies of this name changed; the others stay as they came. */
export function withCookies(fields: HeaderFields, cookie: string, change: ChangeValue): string[] {
  return changed(fields, 'cookie', (line) => {
    const kept = line
      .split(';')
      .map((pair) => changedPair(pair, cookie, change))
      .filter((pair) => pair !== undefined);
    const text = kept.join(';').trim();
    return text === '' ? undefined : text;
  });
}

/** The fields of a response with the cookies of this name changed; the others, and all attributes, stay as they came. */
export function withSetCookies(
  fields: HeaderFields,
  cookie: string,
  change: ChangeValue,
): string[] {
  return changed(fields, 'set-cookie', (line) => {
    const end = line.indexOf(';');
    const [pair, attributes] = end === -1 ? [line, ''] : [line.slice(0, end), line.slice(end)];
    const text = changedPair(pair, cookie, change);
    return text === undefined ? undefined : text + attributes;
  });
}

/** The fields with the values of one changed. */
export function changed(
  fields: HeaderFields,
  lowerCaseName: string,
  change: ChangeValue,
): string[] {
  const result: string[] = [];
  eachField(fields, (name, value) => {
    const after = isNamed(name, lowerCaseName) ? change(value) : value;
    if (after !== undefined) result.push(name, after);
  });
  return result;
}

function isNamed(name: string, lowerCaseName: string): boolean {
  return name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName;
}

function changedPair(pair: string, cookie: string, change: ChangeValue): string | undefined {
  const value = valueOf(pair, cookie);
  if (value === undefined) return pair;
  const inner = unquoted(value);
  const after = change(inner);
  if (after === undefined || after === inner) return after === undefined ? undefined : pair;
  const isQuoted = inner.length < value.length;
  return `${pair.slice(0, pair.indexOf('=') + 1)}${isQuoted ? `"${after}"` : after}`;
}

/** The value of a pair if it is this cookie. Names have a case. */
function valueOf(pair: string, cookie: string): string | undefined {
  const equals = pair.indexOf('=');
  if (equals === -1 || pair.slice(0, equals).trim() !== cookie) return undefined;
  return pair.slice(equals + 1).trim();
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1)
    : value;
}
