import type { components } from './client.ts';

type Version = components['schemas']['ConfigVersion'];
type Changed = Version['changed_resources'][number];

/** Why a version was published: a rollback is named as such. */
export function versionReason({ reason, restored_version: restored }: Version): string {
  return restored === null ? reason : `rolled back to ${restored}`;
}

/** The largest number of fields that are named for a resource. */
const SHOWN_FIELDS = 3;

/**
 * What a version changed, such as `route op-charges: status`, and that there is more.
 * @param shown how many resources are named
 */
export function changedResourcesText(
  { changed_resources: changed }: Version,
  shown: number,
): string {
  const texts = changed.slice(0, shown).map(changedText);
  return [...texts, ...(changed.length > shown ? ['and more'] : [])].join('; ');
}

function changedText({ resource_type: type, name, change, fields }: Changed): string {
  if (change !== 'changed') return `${type} ${name} ${change}`;
  const more = fields.length > SHOWN_FIELDS ? ', …' : '';
  return `${type} ${name}: ${fields.slice(0, SHOWN_FIELDS).join(', ')}${more}`;
}
