import { describe, expect, it } from '@jest/globals';
import { refuseServerVersion } from './server-version.ts';

describe('the version of nats-server', () => {
  it.each(['2.10.23', '2.10.27', '2.11.0', 'v2.15.1', '2.12.0-RC.2', '3.0.0', '10.0.0'])(
    '%s is accepted',
    (version) => {
      expect(refuseServerVersion(version)).toBeUndefined();
    },
  );

  it.each(['2.10.22', 'v2.10.22-beta', '2.10.0', '2.9.30', '1.99.99', '0.10.30'])(
    '%s is refused',
    (version) => {
      expect(refuseServerVersion(version)).toBe(
        `nats-server ${version} is not supported: versions before 2.10.23 may lose streams when they are killed. ` +
          'Install 2.10.23 or newer.',
      );
    },
  );

  it.each(['', 'latest', '2.10'])('%j is refused because it is no version', (version) => {
    expect(refuseServerVersion(version)).toContain('which is not one');
  });
});
