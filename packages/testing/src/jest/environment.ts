import type { JestEnvironment } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/**
 * The environment of every suite: the global scope of the jest worker itself, and no `vm` context. Jest puts its console and its
 * `process.exit` in place for a suite; both are put back after it.
 */
export default class NativeEnvironment implements Partial<JestEnvironment> {
  readonly global = globalThis as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  readonly #console = globalThis.console;
  readonly #exit = Object.getOwnPropertyDescriptor(process, 'exit') ?? {};

  getVmContext(): null {
    return null;
  }

  setup(): Promise<void> {
    return Promise.resolve();
  }

  teardown(): Promise<void> {
    globalThis.console = this.#console;
    Object.defineProperty(process, 'exit', this.#exit);
    return Promise.resolve();
  }
}
