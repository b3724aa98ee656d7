import { describe, expect, it } from '@jest/globals';
import { rollBackText } from './roll-back-text.ts';

const none = { created: 0, updated: 0, deleted: 0 };
const result = {
  environment: 'production',
  restored_version: 41,
  dry_run: false,
  services: none,
  routes: none,
  changes: [],
};

describe('what a roll-back did', () => {
  it('is counted', () => {
    const routes = { created: 1, updated: 2, deleted: 0 };
    const services = { ...none, deleted: 1 };
    expect(rollBackText({ ...result, changed: true, services, routes })).toBe(
      'production is as in version 41: 1 service deleted, 1 route restored, 2 routes changed back.',
    );
  });

  it('may be nothing', () => {
    expect(rollBackText({ ...result, changed: false })).toBe(
      'Nothing differed: production is already as in version 41.',
    );
  });
});
