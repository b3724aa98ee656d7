import type { Registry } from 'prom-client';

/** The connections of a data path by what became of them, as its metrics tell. */
export interface CountedConnections {
  readonly accepted: number;
  readonly answered: number;
  readonly open: number;
  /** The reasons that have occurred, and how often. */
  readonly unanswered: Readonly<Record<string, number>>;
}

export async function countedConnections(registry: Registry): Promise<CountedConnections> {
  const text = await registry.metrics();
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const unanswered: Record<string, number> = {};
  const series = /^gateway_connections_unanswered_total\{reason="(\w+)"\} (\d+)$/gm;
  for (const [, reason = '', count] of text.matchAll(series)) {
    if (Number(count) > 0) unanswered[reason] = Number(count);
  }
  return {
    accepted: value('gateway_connections_accepted_total'),
    answered: value('gateway_connections_answered_total'),
    open: value('gateway_connections'),
    unanswered,
  };
}
