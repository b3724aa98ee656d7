/** The suites of the repository: unit, property, contract and e2e tests, beside what they test. */
export default {
  testMatch: ['**/*.test.ts'],
  // Node loads the TypeScript sources as they are, in tests as in production.
  testEnvironment: '<rootDir>/packages/testing/src/jest/environment.ts',
  testRunner: '<rootDir>/packages/testing/src/jest/runner.ts',
  transform: {},
  injectGlobals: false,
  modulePathIgnorePatterns: ['<rootDir>/.gateway'],
  // `npm run test:long` runs those. The bench is no part of the product.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/bench/', String.raw`\.long\.test\.ts$`],
  globalSetup: '<rootDir>/packages/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testing/src/global-teardown.ts',
  testSequencer: '<rootDir>/packages/testing/src/processes-first.mjs',
  testTimeout: 60_000 * Number(process.env.FUZZ_TIMES ?? 1),
  // More than there are cores: suites of whole processes wait most of the time.
  maxWorkers: 5,
  // Suites leave more behind than is collected, and one that forces collections would crawl.
  workerIdleMemoryLimit: '800MB',
  // On a busy machine, a process of that size needs longer to end than the half second of the default. One that does not end
  // within this time has a suite that left something open: jest says so.
  workerGracefulExitTimeout: 10_000,
};
