import type { ManagedProcess } from './process/managed-process.ts';

/** A server of the stack that others connect to. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** On 127.0.0.1. */
  readonly port: number;
  readonly process: ManagedProcess;
  stop(): Promise<void>;
}
