import type { components } from '@gateway/client';
import { countedText } from '@gateway/client/measures';

type RollBack = components['schemas']['RollbackResult'];

/** What a roll-back did, in a sentence. */
export function rollBackText(result: RollBack): string {
  const { environment, restored_version: version, changed, services, routes } = result;
  if (!changed) return `Nothing differed: ${environment} is already as in version ${version}.`;
  const parts = [partText(services, 'service'), partText(routes, 'route')];
  const what = parts.filter((part) => part !== '').join(', ');
  return `${environment} is as in version ${version}: ${what}.`;
}

function partText(counts: RollBack['services'], what: string): string {
  const { created, updated, deleted } = counts;
  const parts = [
    [created, 'restored'],
    [updated, 'changed back'],
    [deleted, 'deleted'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, done]) => `${countedText(count, what)} ${done}`)
    .join(', ');
}
