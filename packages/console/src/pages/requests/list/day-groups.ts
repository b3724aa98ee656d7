/** Rows of one day, in the zone of the browser. */
export interface DayGroup<Row> {
  /** Such as `Sunday, 29 November 2026`. */
  readonly day: string;
  readonly rows: readonly Row[];
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const TIME = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** Groups rows that are ordered by time, so that each names its time of day alone. */
export function groupByDay<Row extends { readonly received_at: string }>(
  rows: readonly Row[],
): readonly DayGroup<Row>[] {
  const groups = Map.groupBy(rows, ({ received_at: at }) => DAY.format(new Date(at)));
  return [...groups].map(([day, of]) => ({ day, rows: of }));
}

/** The time of day in the zone of the browser: `12:04:31.203`. */
export function timeOfDay(at: string): string {
  return TIME.format(new Date(at));
}
