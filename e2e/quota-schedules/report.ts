import { percentile } from '../harness/figures.ts';
import { LIMIT, type WindowResult } from './run-schedule.ts';
import type { Kind } from './schedule.ts';

/** The windows of one run. */
export interface RunResult {
  readonly kind: Kind;
  readonly windows: readonly WindowResult[];
}

const ALMOST_ALL = 0.99;
/** What a window that something touched grants at least, if all data planes have load. */
const AT_LEAST = 2 / 3;

const COLUMNS = [
  'what broke',
  'runs',
  'windows',
  'over the limit',
  'most granted',
  'requests of uncertain windows',
  'touched windows',
  'least granted, load on all',
  'median',
  'below two thirds',
  'least granted, load on some',
  'untouched windows',
  'below 99 %',
];

/** Windows that certainly granted more than the limit. */
export function windowsOver(windows: readonly WindowResult[]): readonly WindowResult[] {
  return windows.filter(({ granted }) => granted > LIMIT);
}

/**
 * One line with what each window granted, `+` what it may have granted besides; `*` marks touched ones, `?` those that were
 * not offered the whole limit.
 */
export function windowsLine(windows: readonly WindowResult[]): string {
  const line = (load: WindowResult['load']) =>
    windows
      .filter((one) => one.load === load)
      .map(
        ({ granted, uncertain, touched, offered }) =>
          `${granted}${uncertain > 0 ? `+${uncertain}` : ''}${touched ? '*' : ''}${offered < LIMIT ? '?' : ''}`,
      )
      .join(' ');
  return `all ${line('all')}, some ${line('some')}`;
}

/** A Markdown table with one row for each kind. */
export function formatRuns(runs: readonly RunResult[]): string {
  const kinds = [...new Set(runs.map(({ kind }) => kind))];
  const rows = kinds.map((kind) =>
    rowOf(
      kind,
      runs.filter((run) => run.kind === kind),
    ),
  );
  if (kinds.length > 1) rows.push(rowOf('all', runs));
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(COLUMNS), line(COLUMNS.map(() => '---')), ...rows.map(line)].join('\n');
}

function rowOf(name: string, runs: readonly RunResult[]): readonly (string | number)[] {
  const windows = runs.flatMap((run) => run.windows);
  // A stalled machine may not have offered enough.
  const loaded = windows.filter(({ offered }) => offered >= LIMIT);
  const grants = (touched: boolean, load?: WindowResult['load']) =>
    loaded
      .filter((one) => one.touched === touched && one.load === (load ?? one.load))
      .map(({ granted, uncertain }) => granted + uncertain);
  const touched = grants(true, 'all');
  const untouched = grants(false);
  return [
    name,
    runs.length,
    windows.length,
    windowsOver(windows).length,
    Math.max(...windows.map(({ granted }) => granted)),
    windows.reduce((sum, { uncertain }) => sum + uncertain, 0),
    grants(true).length,
    smallest(touched),
    touched.length === 0 ? '' : percentile(touched, 0.5),
    touched.filter((granted) => granted < LIMIT * AT_LEAST).length,
    smallest(grants(true, 'some')),
    untouched.length,
    untouched.filter((granted) => granted < LIMIT * ALMOST_ALL).length,
  ];
}

function smallest(values: readonly number[]): number | string {
  return values.length === 0 ? '' : Math.min(...values);
}
