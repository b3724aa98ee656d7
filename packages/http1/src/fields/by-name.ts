import { ownText } from './own-text.ts';

const MAX_NAMES = 512;
const MAX_NAME_LENGTH = 64;

/**
 * Remembers what follows from the name of a field alone, by the name as it was written. Nearly all
 * messages have the same few names, so that it is not worked out for each field of each message. Bounded: it
 * holds 512 names of up to 64 characters; what follows from others is worked out each time.
 */
export function byName<Value>(workOut: (name: string) => Value): (name: string) => Value {
  const known = new Map<string, Value>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const own = ownText(name);
    const value = workOut(own);
    if (known.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) known.set(own, value);
    return value;
  };
}
