import { didYouMean } from '@gateway/shared/similar/did-you-mean';
import { z } from 'zod';

/** An error has no more details, and a comparison takes time. */
const MAX_COMPARED = 50;
/** No field has a longer name. */
const MAX_NAME_CHARS = 64;

/** The fields that the objects of an input may have, as far as the input has others. */
export class KnownFields {
  readonly #byPath = new Map<string, readonly string[]>();
  #compared = 0;

  /** Reads them of an issue, which is the only place where zod says which schema refuses a field. */
  note({ code, inst, path }: z.core.$ZodRawIssue): undefined {
    if (code !== 'unrecognized_keys' || !(inst instanceof z.ZodObject)) return;
    this.#byPath.set(pathKey(path ?? []), Object.keys(inst.shape));
  }

  /** Which known fields of the object at the path an unknown one is similar to: `; did you mean timeout_ms?`, or nothing. */
  similarTo(name: string, path: readonly PropertyKey[]): string {
    if (this.#compared >= MAX_COMPARED || name.length > MAX_NAME_CHARS) return '';
    this.#compared += 1;
    return didYouMean(name, this.#byPath.get(pathKey(path)) ?? []);
  }
}

function pathKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}
