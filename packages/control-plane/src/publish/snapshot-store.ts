/** The pointer of an environment as stored, verified or not. */
export interface StoredPointer {
  /** Undefined if there is none. */
  readonly text: string | undefined;
  /** A replacement must name it to succeed; 0 if the key never existed. */
  readonly revision: number;
}

/** The last log entry of an environment as stored, verified or not. */
export interface StoredTail {
  /** Undefined if the log is empty. */
  readonly bytes: Uint8Array | undefined;
  /** The next entry must name it to succeed; 0 if the log is empty. */
  readonly sequence: number;
}

/**
 * Stores snapshots and deltas for the data planes. Every call has its own deadline. A call that rejects
 * may have succeeded, so only `appendEntry` decides what is published, by compare-and-set.
 */
export interface SnapshotStore {
  /** Whether the connection is up; a hint that saves waiting for a deadline. */
  isConnected(): boolean;
  /** How often the connection was lost so far; each time the stored data may be lost too. */
  losses(): number;
  /** Creates the streams and buckets that are missing, such as after NATS lost its data. */
  prepare(): Promise<void>;
  readPointer(environment: string): Promise<StoredPointer>;
  readTail(environment: string): Promise<StoredTail>;
  /** False if the last entry is no longer at `expectedSequence`; then nothing was changed. */
  appendEntry(environment: string, bytes: Uint8Array, expectedSequence: number): Promise<boolean>;
  /** Deletes the entries of an environment except for the newest `keep`. */
  trimLog(environment: string, keep: number): Promise<void>;
  /** Calls the listener with each environment for which a data plane requests a snapshot. */
  onSnapshotRequest(listener: (environment: string) => void): void;
  hasObject(name: string): Promise<boolean>;
  putObject(name: string, bytes: Uint8Array): Promise<void>;
  /** False if the pointer is no longer at `expectedRevision`; then nothing was changed. */
  putPointer(environment: string, text: string, expectedRevision: number): Promise<boolean>;
  /** The names of the objects of all environments, in no order. */
  listObjects(): Promise<readonly string[]>;
  removeObject(name: string): Promise<void>;
}
