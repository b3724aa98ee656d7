import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setSuiteGlobals, type SuiteGlobals } from './globals.ts';

/** The parameters of a `testRunner` of jest. */
type RunnerParameters = readonly [
  globalConfig: unknown,
  projectConfig: unknown,
  environment: unknown,
  runtime: unknown,
  testFile: string,
  sendMessageToJest: unknown,
];

const require = createRequire(import.meta.url);
const { default: runCircus } = require('jest-circus/runner') as {
  default: (...parameters: RunnerParameters) => Promise<unknown>;
};
/** Modules that stand for packages in tests, each of which may import its package itself. */
const substitutes = new Map([
  ['@jest/globals', new URL('globals.ts', import.meta.url).href],
  ['fast-check', new URL('repeated-fast-check.ts', import.meta.url).href],
]);
/** Where jest-circus keeps its event handlers. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

// `@jest/globals` itself throws outside a context that jest made.
registerHooks({
  resolve: (specifier, context, next) => {
    const url = substitutes.get(specifier);
    return url === undefined || url === context.parentURL
      ? next(specifier, context)
      : { url, format: 'module-typescript', shortCircuit: true };
  },
});

/** What jest-circus uses of jest's module loader, done by Node's. */
const nodeRuntime = {
  /** jest-circus keeps the state of one suite in its module, so each suite gets a copy of its own. */
  requireInternalModule(file: string): unknown {
    Reflect.deleteProperty(require.cache, file);
    Reflect.deleteProperty(globalThis, EVENT_HANDLERS);
    return require(file);
  },
  requireModule: require,
  setGlobalsForRuntime: (globals: SuiteGlobals): void => setSuiteGlobals(globals),
  unstable_shouldLoadAsEsm: (): boolean => true,
  unstable_importModule: (file: string): Promise<unknown> => import(pathToFileURL(file).href),
  enterTestCode: (): void => undefined,
  leaveTestCode: (): void => undefined,
};

/**
 * Runs one test file with jest-circus, as jest does by default, but loads the modules with Node itself: as in production, and once
 * per worker in place of once per file.
 */
export default function runSuite(...parameters: RunnerParameters): Promise<unknown> {
  const [globalConfig, projectConfig, environment, , testFile, sendMessageToJest] = parameters;
  return runCircus(
    globalConfig,
    projectConfig,
    environment,
    nodeRuntime,
    testFile,
    sendMessageToJest,
  );
}
