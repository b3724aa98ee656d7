import config from './jest.config.mjs';

/** The suites that `npm test` leaves out because they take longest, or need a machine that is not busy. */
export default {
  ...config,
  testMatch: ['**/*.long.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
};
