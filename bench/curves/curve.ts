import type { LineChart, Series } from './chart/line-chart.ts';

/** A chart of how a cost grows. */
export interface Curve {
  /** Of its section on the page and of its image. */
  readonly name: string;
  readonly chart: Omit<LineChart, 'series'>;
  /** What was measured and how, one or two sentences below the table. */
  readonly method: string;
  measure(): Promise<readonly Series[]>;
}
