import { UsageError } from '../program/exit-codes.ts';
import { parseLazily, type Fields } from './read-body.ts';

/** Secrets in arguments can be read by other users of the machine, and stay in the history of the shell. */
const SECRETS = ['credential', 'tls.client_certificate'];
/** Without `__proto__`, which would silently set nothing. */
const PATH = /^[a-z][a-z_]*(\.[a-z][a-z_]*)*$/;

/**
 * Applies `--set path=value` to the fields of a resource. The value is YAML: `rate_limit.limit=100`,
 * `methods=[GET, POST]`, `versions=null`. Returns the top-level fields that changed, each as a whole.
 */
export async function setFields(
  current: Fields,
  settings: readonly string[],
  option: '--set' | '-f' = '--set',
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
    changed[field] = withField(changed[field] ?? current[field], inner, value);
  }
  return changed;
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
