import { StartError } from '@gateway/local-stack/process/errors';
import { bodies } from './bodies.ts';
import type { Workload } from './workload.ts';

const ALL: readonly Workload[] = [bodies];

/**
 * The workloads with these names.
 *
 * @param names empty: all of them
 * @throws {StartError} if a name is not the name of a workload
 */
export function namedWorkloads(names: readonly string[]): readonly Workload[] {
  const known = ALL.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new StartError(
      `unknown workload: ${unknown.join(', ')}; the workloads are: ${known.join(', ')}`,
    );
  }
  return ALL.filter(({ name }) => names.length === 0 || names.includes(name));
}
