import { InvalidArgumentError } from 'commander';

/** Selects values among those of one level. */
type Step = (value: unknown) => readonly unknown[];

const SYNTAX =
  'a path has names, indexes and *, such as $[*].name, $.versions[0].weight or $..url; quote other names: $["x y"]';

/**
 * The values that a path selects. It is a part of JSONPath (RFC 9535): `.name`, `["name"]`, `[0]`, `[-1]`, `.*`, `[*]`, and
 * `..` before one of them for every depth. Filters and slices are for tools such as jq. `{…}` around it and a missing `$`
 * are allowed, as kubectl has them.
 * @throws InvalidArgumentError if it is no such path
 */
export function valuesAt(path: string, data: unknown): unknown[] {
  return stepsOf(path).reduce<unknown[]>((values, step) => values.flatMap(step), [data]);
}

/** A step with what is left of the path after it. */
const STEP =
  /^(?<deep>\.\.)?(?:\.?\[(?:(?<index>-?\d{1,9})|(?<all>\*)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>(?:[^'\\]|\\.)*)')\]|\.?(?<name>[\p{L}_][\p{L}\p{N}_-]*)|\.?(?<every>\*))/u;

function stepsOf(path: string): Step[] {
  let rest = (/^\{(.*)\}$/s.exec(path)?.[1] ?? path).replace(/^\$/, '');
  const steps: Step[] = [];
  while (rest !== '') {
    const found = STEP.exec(rest);
    if (!found?.groups) throw new InvalidArgumentError(`Cannot read ${rest}; ${SYNTAX}`);
    const { deep, index, double, single, name } = found.groups;
    if (deep !== undefined) steps.push(withDescendants);
    const key = name ?? unescaped(double) ?? unescaped(single);
    if (key !== undefined) steps.push((value) => fieldOf(value, key));
    else if (index !== undefined) steps.push((value) => itemOf(value, Number(index)));
    else steps.push(childrenOf);
    rest = rest.slice(found[0].length);
  }
  return steps;
}

const unescaped = (text: string | undefined) => text?.replaceAll(/\\(.)/gs, '$1');

function fieldOf(value: unknown, name: string): unknown[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}

function itemOf(value: unknown, index: number): unknown[] {
  if (!Array.isArray(value)) return [];
  const at = index < 0 ? value.length + index : index;
  return at >= 0 && at < value.length ? [value[at]] : [];
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** A value and all that is within it, each before what it contains. */
function withDescendants(value: unknown): unknown[] {
  return [value, ...childrenOf(value).flatMap(withDescendants)];
}
