import { pointerTo } from '../input/json-pointer.ts';
import { UsageError } from '../program/exit-codes.ts';
import { faultText, placeInManifest, type Kind, type Manifest } from './manifest.ts';
import { MAX_MANIFEST_BYTES } from './read-sources.ts';

/** A reference whose variable is not set: the gateway keeps the stored secret. */
interface UnsetReference {
  readonly variable: string;
  readonly pointer: string;
  readonly place: string;
}

/** What is sent to the gateway. */
export interface Replaced {
  readonly document: Readonly<Partial<Record<Kind, readonly unknown[]>>>;
  readonly unset: readonly UnsetReference[];
  /** The variables whose values are in it. */
  readonly taken: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** The variable with the token of gwctl itself, which an upstream would get. */
const OWN_TOKEN = 'GATEWAY_TOKEN';

/** The API has no field that is nested so deeply. */
const MAX_DEPTH = 32;

const SECRET_FIELD =
  /^\/services\/\d+\/(credential\/(token|username|password|value)|tls\/client_certificate\/key_pem)$/;
const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const HAS_REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

/**
 * Replaces references such as `${PAYMENTS_TOKEN}` in secrets by the variables of the environment. An empty variable
 * counts as one that is not set: CI systems pass a secret that does not exist as an empty text.
 * @throws UsageError for a reference in another field or to the token of gwctl, and for aliases that expand to more than the gateway takes
 */
export function replaceReferences(manifest: Manifest, env: Env): Replaced {
  const faults: string[] = [];
  const unset: UnsetReference[] = [];
  const taken = new Set<string>();
  const placeAt = (pointer: string) => placeInManifest(manifest, pointer) ?? pointer;
  let size = 0;

  function replaceText(text: string, pointer: string): string {
    if (!HAS_REFERENCE.test(text)) return text;
    const place = placeAt(pointer);
    const variable = REFERENCE.exec(text)?.[1];
    if (!SECRET_FIELD.test(pointer)) {
      faults.push(`${place}: only secrets can be references to variables; write the value`);
    } else if (variable === undefined) {
      faults.push(`${place}: a reference must be the whole value, such as \${PAYMENTS_TOKEN}`);
    } else if (variable === OWN_TOKEN) {
      faults.push(`${place}: ${OWN_TOKEN} is the token of gwctl; name another variable`);
    } else {
      const secret = env[variable] ?? '';
      if (REFERENCE.test(secret)) {
        faults.push(`${place}: the value of the variable ${variable} is a reference itself`);
      }
      if (secret !== '') {
        taken.add(variable);
        return secret;
      }
      unset.push({ variable, pointer, place });
    }
    return text;
  }

  function replace(value: unknown, pointer: string, depth: number): unknown {
    if (depth > MAX_DEPTH) {
      const place = placeAt(pointer);
      throw new UsageError(
        `${place}: it is nested too deeply, or an alias is within its own anchor`,
      );
    }
    size += typeof value === 'string' ? value.length : 1;
    if (size > MAX_MANIFEST_BYTES) {
      throw new UsageError(`${placeAt(pointer)}: the files have more than 16 MiB with aliases`);
    }
    if (typeof value === 'string') return replaceText(value, pointer);
    if (Array.isArray(value))
      return value.map((item, at) => replace(item, `${pointer}/${at}`, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, field]) => {
      size += name.length;
      return [name, replace(field, pointerTo(pointer, name), depth + 1)] as const;
    });
    return Object.fromEntries(fields);
  }

  const kinds = Object.entries(manifest.items).flatMap(([kind, items]) => {
    if (items === undefined) return [];
    return [[kind, items.map(({ value }, at) => replace(value, `/${kind}/${at}`, 0))] as const];
  });
  if (faults.length > 0) throw new UsageError(faultText(faults));
  return { document: Object.fromEntries(kinds), unset, taken: [...taken] };
}
