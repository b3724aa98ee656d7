import { hasUnsaved } from './unsaved.ts';

type Leave = () => void;

let waiting: Leave | undefined;
const listeners = new Set<() => void>();

function become(next: Leave | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Leaves at once if no form has unsaved input, else after the reader has said so. */
export function askToLeave(leave: Leave): void {
  if (hasUnsaved()) become(leave);
  else leave();
}

/** Whether the reader is asked. */
export function askedToLeave(): boolean {
  return waiting !== undefined;
}

/** The answer of the reader. */
export function answerLeaving(leaves: boolean): void {
  const leave = waiting;
  become(undefined);
  if (leaves) leave?.();
}

/** Calls the listener when the question begins and ends. */
export function subscribeToLeaving(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
