import config from './jest.config.mjs';

/** The suites that `npm test` leaves out because they take longest: faults and outages of whole processes. */
export default {
  ...config,
  testMatch: ['**/*.long.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
