import { expect, it } from '@jest/globals';
import type { DataPlane } from '../../api/client.ts';
import { dataPlanesText } from './data-planes-text.ts';

function plane(changes: object = {}, served: object = {}): DataPlane {
  const environment = {
    environment: 'production',
    version: 223,
    newest_version: 223,
    versions_behind: 0,
    unusable_count: 0,
    ...served,
  };
  return { id: 'dp', stale: false, environments: [environment], ...changes } as DataPlane;
}

it.each([
  [[plane(), plane()], '2 live, all on v223', false],
  [[plane()], '1 live, on v223', false],
  [[plane(), plane({}, { version: 222, versions_behind: 1 })], '2 live, 1 behind v223', true],
  [[plane(), plane({ stale: true })], '1 live, on v223, 1 stale', true],
  [[plane({}, { unusable_count: 3 })], '1 live, on v223, 1 cannot use all of it', true],
  [[plane({ environments: [] })], '1 live', false],
  [[plane({ stale: true })], '0 live, 1 stale', true],
  [[], 'none has sent a heartbeat', true],
])('says what the data planes do: %#', (planes, text, isBad) => {
  expect(dataPlanesText(planes, 'production')).toEqual({ text, isBad });
});
