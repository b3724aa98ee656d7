import { isAmountUnit } from '@gateway/client/amounts';
import { fieldAt, type FormField, type FormFields } from '@gateway/client/form-fields';
import { UsageError } from '../program/exit-codes.ts';
import { amountOf, FaultyAmount } from './amounts.ts';
import { parseLazily, type Fields } from './read-body.ts';

/** Secrets in arguments can be read by other users of the machine, and stay in the history of the shell. */
const SECRETS = ['credential', 'tls.client_certificate'];
/** Without `__proto__`, which would silently set nothing. */
const PATH = /^[a-z][a-z_]*(\.[a-z][a-z_]*)*$/;

interface SetOptions {
  /** The option that gives the settings. */
  readonly option?: '--set' | '-f';
  /** The fields of the resource, whose times and sizes may have units. */
  readonly fields?: FormFields;
}

/**
 * Applies `--set path=value` to the fields of a resource. The value is YAML: `rate_limit.limit=100`,
 * `methods=[GET, POST]`, `versions=null`; times and sizes may have units. Returns the top-level fields that changed, each as a whole.
 */
export async function setFields(
  current: Fields,
  settings: readonly string[],
  { option = '--set', fields = {} }: SetOptions = {},
): Promise<Fields> {
  const changed: Record<string, unknown> = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const path = setting.slice(0, Math.max(at, 0));
    if (!PATH.test(path)) {
      throw new UsageError(`${option} must be FIELD=VALUE, such as rate_limit.limit=100`);
    }
    refuseSecret(
      option,
      SECRETS.find((secret) => isWithin(path, secret)),
    );
    const value = await parseLazily(setting.slice(at + 1), `${option} ${path}`);
    refuseSecret(
      option,
      SECRETS.find((secret) => has(path, value, secret)),
    );
    const [field = '', ...inner] = path.split('.');
    const amounts = inAmounts(value, fieldAt(fields, path), `${option} ${path}`);
    changed[field] = withField(changed[field] ?? current[field], inner, amounts);
  }
  return changed;
}

/**
 * A value with each time and size, such as `1.5s`, as the number of the API.
 * @param place what the user typed, for the message
 * @throws UsageError
 */
function inAmounts(value: unknown, field: FormField | undefined, place: string): unknown {
  if (field === undefined) return value;
  const { unit, fields } = field;
  if (typeof value === 'string' && isAmountUnit(unit)) {
    try {
      return amountOf(value, { ...field, unit });
    } catch (error) {
      throw error instanceof FaultyAmount ? new UsageError(`${place} ${error.message}`) : error;
    }
  }
  if (Array.isArray(value)) return value.map((item: unknown) => inAmounts(item, field, place));
  if (typeof value !== 'object' || value === null) return value;
  const named = Object.entries(value).map(([name, inner]: [string, unknown]) => [
    name,
    inAmounts(inner, fieldAt(fields, name), `${place}.${name}`),
  ]);
  return Object.fromEntries(named) as unknown;
}

function refuseSecret(option: '--set' | '-f', path: string | undefined): void {
  if (path === undefined) return;
  const other = option === '-f' ? '--input' : '-f';
  throw new UsageError(
    `${option} cannot have ${path}, which is a secret; use ${other} FILE or ${other} -`,
  );
}

function isWithin(path: string, outer: string): boolean {
  return `${path}.`.startsWith(`${outer}.`);
}

/** Whether the value of a field has the inner field of this path. */
function has(path: string, value: unknown, innerPath: string): boolean {
  if (!isWithin(innerPath, path)) return false;
  let found = value;
  for (const name of innerPath.slice(path.length + 1).split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return false;
    found = (found as Fields)[name];
  }
  return true;
}

function withField(object: unknown, [name, ...inner]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields = typeof object === 'object' && object !== null ? (object as Fields) : {};
  return { ...fields, [name]: withField(fields[name], inner, value) };
}
