import type { Run } from '../lab/run.ts';
import type { LineChart, Series } from './chart/line-chart.ts';

/** A chart of how a cost grows. */
export interface Curve extends Omit<LineChart, 'series'> {
  /** Of its section on the page and of its image. */
  readonly name: string;
  /** @param rounds instead of its own number of them */
  measure(run: Run, rounds: number | undefined): Promise<readonly Series[]>;
}
