import type { ReactNode } from 'react';

/** What a colour says; the style sheet has it for both themes. */
export type ChartTone =
  | 'good'
  | 'plain'
  | 'warn'
  | 'limit'
  | 'bad'
  | 'gone'
  | 'first'
  | 'second'
  | 'tail'
  | 'third'
  | 'fourth'
  | 'fifth';

export interface ChartSeries {
  readonly key: string;
  readonly name: string;
  readonly tone: ChartTone;
  /** One for each step; null: not known. */
  readonly values: readonly (number | null)[];
  /** In the legend after the name, such as a link to the requests behind it. */
  readonly note?: ReactNode;
}
