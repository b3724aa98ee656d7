import { timeParts, type TimePart } from '@gateway/client/time-parts';
import { useId } from 'react';
import type { RequestRecord } from '../../api/client.ts';
import { msText } from '../../ui/ms-text.ts';
import classes from './time-account.module.css';

/** Less is the rounding of the parts. */
const NOTHING_MS = 0.05;

/** Where the time of a request went: a bar, and each part in words. The parts add up to the total. */
export function TimeAccount({
  record,
}: {
  readonly record: Pick<RequestRecord, 'timing' | 'waits'>;
}) {
  const heading = useId();
  const parts = wholeParts(record);
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <section aria-labelledby={heading}>
      <div className={classes.head}>
        <h2 id={heading}>Time</h2>
        <span className={classes.total}>{msText(record.timing.total_ms)}</span>
      </div>
      <div className={classes.bar} aria-hidden>
        {parts.map(({ name, ms, of }) => (
          <div
            key={name}
            className={classes.part}
            data-of={of}
            style={{ flexGrow: ms / totalMs }}
            title={`${name} ${msText(ms)}`}
          />
        ))}
      </div>
      <ul className={classes.list} aria-label="Where the time went">
        {parts.map(({ name, ms, of }) => (
          <li key={name} className={classes.item} data-of={of}>
            <span className={classes.mark} aria-hidden />
            {name} <span className={classes.ms}>{msText(ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ShownPart extends Omit<TimePart, 'of'> {
  readonly of: TimePart['of'] | 'rest';
}

/** Gateways that counted only some of the parts leave a rest. */
function wholeParts(record: Pick<RequestRecord, 'timing' | 'waits'>): readonly ShownPart[] {
  const parts = timeParts(record);
  const rest = record.timing.total_ms - parts.reduce((sum, { ms }) => sum + ms, 0);
  return rest < NOTHING_MS ? parts : [...parts, { name: 'not counted', ms: rest, of: 'rest' }];
}
