import { FailedError, UsageError } from '../program/exit-codes.ts';

/** The pattern of an id with this prefix. */
export const idPattern = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-9a-z]{26}$`);

/**
 * The only resource of a name.
 * @param place says what tells two resources of one name apart, such as the environment
 */
export function onlyMatch<Item>(
  found: readonly Item[],
  {
    kind,
    name,
    place,
    hint = '',
  }: {
    readonly kind: string;
    readonly name: string;
    readonly place: (item: Item) => string;
    /** What to add if there is none. */
    readonly hint?: string;
  },
): Item {
  const [first, ...more] = found;
  if (first === undefined) throw new FailedError(`there is no ${kind} ${name}${hint}`);
  if (more.length === 0) return first;
  const places = found.map(place).sort().join(', ');
  throw new UsageError(`there are ${found.length} of the name ${name}: ${places}`);
}
