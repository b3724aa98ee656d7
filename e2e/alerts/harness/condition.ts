import type { AlertWatch } from './alert-watch.ts';

/** Undoes a condition. */
export type End = () => Promise<unknown>;

/** Something that happens to a running gateway, and the alerts that it must raise. */
export interface Condition<World> {
  readonly condition: string;
  readonly alerts: readonly string[];
  /** Causes it. What it returns ends it, after the alerts have fired. */
  readonly cause: (world: World) => End | Promise<End>;
  /** The alerts that must end within seconds after it. The others look back for minutes. */
  readonly resolved: readonly string[];
}

/** What the conditions of a group need. */
export interface AlertWorld {
  readonly watch: AlertWatch;
  /** Sends requests as of users that nothing is wrong with. */
  readonly traffic: () => Promise<void>;
  close(): Promise<void>;
}

/** Conditions that one running gateway goes through, in this order. */
export interface AlertGroup<World extends AlertWorld> {
  readonly name: string;
  open(): Promise<World>;
  readonly conditions: readonly Condition<World>[];
}
