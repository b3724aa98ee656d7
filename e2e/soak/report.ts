import type { Outcomes } from './outcomes.ts';
import type { Growth } from './growth.ts';

/** One row of the table of figures. */
export interface FigureRow extends Growth {
  readonly process: string;
  readonly isJudged: boolean;
}

const yesNo = (is: boolean) => (is ? 'yes' : 'NO');

/** Memory and handles of each process, as Markdown. */
export function figureTable(rows: readonly FigureRow[]): string {
  return [
    '| process | figure | first third | last third | flat |',
    '| --- | --- | --: | --: | --- |',
    ...rows.map(({ process, what, first, last, isFlat, isJudged }) => {
      const digits = what === 'handles' ? 0 : 1;
      const cells = [
        process,
        what,
        first.toFixed(digits),
        last.toFixed(digits),
        isJudged ? yesNo(isFlat) : 'not judged',
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** The outcomes of each kind of call, as Markdown. */
export function outcomeTable(outcomes: Outcomes): string {
  const lines = [...outcomes.outcomes].map(([kind, outcomes]) => {
    const sum = [...outcomes.values()].reduce((total, count) => total + count, 0);
    const each = [...outcomes].map(([outcome, count]) => `${outcome} × ${count}`);
    return `| ${kind} | ${sum} | ${each.toSorted().join(', ')} |`;
  });
  return ['| callers | calls | how they ended |', '| --- | --: | --- |', ...lines].join('\n');
}
