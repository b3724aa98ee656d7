/** The newest pointer of an environment as it stands in the store, proven or not. */
export interface StoredPointer {
  /** Undefined where there is none. */
  readonly text: string | undefined;
  /** What a replacement must name to succeed; 0 where the key never existed. */
  readonly revision: number;
}

/** The last entry of an environment's log as it stands in the store, proven or not. */
export interface StoredTail {
  /** Undefined where the log is empty. */
  readonly bytes: Uint8Array | undefined;
  /** What the next entry must name to succeed; 0 where the log is empty. */
  readonly sequence: number;
}

/**
 * Where snapshots and deltas go on their way to the data planes. Every call ends within a deadline of its own;
 * one that rejects may still have happened, so only `appendEntry` decides, by compare-and-set.
 */
export interface SnapshotStore {
  /** Whether a call has a chance now; a hint that saves waiting for a deadline. */
  isConnected(): boolean;
  /** How often the connection was lost so far: what was stored before may be gone after each time. */
  losses(): number;
  /** Creates what is missing in the store, such as after its data was lost. */
  prepare(): Promise<void>;
  readPointer(environment: string): Promise<StoredPointer>;
  readTail(environment: string): Promise<StoredTail>;
  /** False where the entry at `expectedSequence` is not the last one any more; then nothing was changed. */
  appendEntry(environment: string, bytes: Uint8Array, expectedSequence: number): Promise<boolean>;
  /** Forgets the entries of an environment but for so many of the newest. */
  trimLog(environment: string, keep: number): Promise<void>;
  /** Calls with each environment of which a data plane asks for a snapshot. */
  onWanted(listener: (environment: string) => void): void;
  hasObject(name: string): Promise<boolean>;
  putObject(name: string, bytes: Uint8Array): Promise<void>;
  /** False where the pointer is not at `expectedRevision` any more; then nothing was changed. */
  putPointer(environment: string, text: string, expectedRevision: number): Promise<boolean>;
  /** The names of all objects, of every environment, in no order. */
  listObjects(): Promise<readonly string[]>;
  removeObject(name: string): Promise<void>;
}
