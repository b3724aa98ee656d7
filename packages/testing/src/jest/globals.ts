import { ModuleMocker } from 'jest-mock';

type Global = (...parameters: unknown[]) => unknown;

/** The functions of jest-circus for the suite that runs. */
export type SuiteGlobals = Readonly<Record<string, Global>>;

let current: SuiteGlobals = {};

export function setSuiteGlobals(globals: SuiteGlobals): void {
  current = globals;
}

/**
 * The function of that name of the suite that runs now, with its properties (`it.each`). A helper module is loaded once per worker
 * and so serves many suites.
 */
function ofSuite(name: string): unknown {
  const now = (): Global => {
    const found = current[name];
    if (found === undefined) throw new Error(`${name} is called outside a suite`);
    return found;
  };
  return new Proxy(() => undefined, {
    apply: (_target, self, parameters) => Reflect.apply(now(), self, parameters),
    get: (_target, key) => Reflect.get(now(), key) as unknown,
  });
}

export const afterAll = ofSuite('afterAll');
export const afterEach = ofSuite('afterEach');
export const beforeAll = ofSuite('beforeAll');
export const beforeEach = ofSuite('beforeEach');
export const describe = ofSuite('describe');
export const expect = ofSuite('expect');
export const it = ofSuite('it');
export const test = ofSuite('test');
export const jest = new ModuleMocker(globalThis);
