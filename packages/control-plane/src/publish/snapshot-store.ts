/** The newest pointer of an environment as it stands in the store, proven or not. */
export interface StoredPointer {
  /** Undefined where there is none. */
  readonly text: string | undefined;
  /** What a replacement must name to succeed; 0 where the key never existed. */
  readonly revision: number;
}

/**
 * Where snapshots go on their way to the data planes. Every call ends within a deadline of its own;
 * one that rejects may still have happened, so only `putPointer` decides, by compare-and-set.
 */
export interface SnapshotStore {
  /** Whether a call has a chance now; a hint that saves waiting for a deadline. */
  isConnected(): boolean;
  /** Creates what is missing in the store, such as after its data was lost. */
  prepare(): Promise<void>;
  readPointer(environment: string): Promise<StoredPointer>;
  hasObject(name: string): Promise<boolean>;
  putObject(name: string, bytes: Uint8Array): Promise<void>;
  /** False where the pointer is not at `expectedRevision` any more; then nothing was changed. */
  putPointer(environment: string, text: string, expectedRevision: number): Promise<boolean>;
  /** The names of all objects, of every environment, in no order. */
  listObjects(): Promise<readonly string[]>;
  removeObject(name: string): Promise<void>;
}
