import { Text } from '@mantine/core';
import { visibleText } from '../visible-text.ts';
import { inlineChanges } from './inline-changes.ts';
import classes from './changes.module.css';

interface InlineChangeProps {
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** What changed, in a line: `timeout_ms 7000 → 6000`. Nothing if the resource was created or deleted. */
export function InlineChange({ before, after }: InlineChangeProps) {
  const changes = inlineChanges(before, after);
  if (changes === undefined) return null;
  const { shown, more } = changes;
  if (shown.length === 0) {
    return (
      <Text span c="dimmed" inherit>
        no field
      </Text>
    );
  }
  return (
    <span className={classes.inline}>
      {shown.map(({ path, values }) => (
        <span key={path}>
          {path}
          {values !== undefined && (
            <>
              {' '}
              <del className={classes.before}>{visibleText(values.before)}</del>{' '}
              <span aria-hidden>→</span>{' '}
              <ins className={classes.after}>{visibleText(values.after)}</ins>
            </>
          )}
        </span>
      ))}
      {more > 0 && (
        <Text span c="dimmed" inherit>
          and {more} more
        </Text>
      )}
    </span>
  );
}
