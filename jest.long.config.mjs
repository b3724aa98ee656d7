import config from './jest.config.mjs';

/** The suites that `npm test` leaves out: they take longest, need a machine that is not busy, or test the bench. */
export default {
  ...config,
  testMatch: ['**/*.long.test.ts', '<rootDir>/bench/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
};
