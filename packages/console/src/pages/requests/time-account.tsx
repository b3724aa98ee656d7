import { Group, Stack, Text } from '@mantine/core';
import { timeParts } from '@gateway/client/time-parts';
import type { RequestRecord } from '../../api/client.ts';
import { msText } from '../../ui/ms-text.ts';
import classes from './time-account.module.css';

/** Where the time of a request went: a bar, and each part in words. */
export function TimeAccount({ record }: { readonly record: RequestRecord }) {
  const parts = timeParts(record);
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <Stack gap="xs">
      <div className={classes.bar} aria-hidden>
        {parts.map(({ name, ms, of }) => (
          <div
            key={name}
            className={classes.part}
            data-of={of}
            style={{ width: `${(ms / totalMs) * 100}%` }}
          />
        ))}
      </div>
      <Group component="ul" gap="md" className={classes.list} aria-label="Where the time went">
        {parts.map(({ name, ms, of }) => (
          <Text key={name} component="li" size="sm" className={classes.item}>
            <span className={classes.mark} data-of={of} aria-hidden />
            {name} {msText(ms)}
          </Text>
        ))}
      </Group>
    </Stack>
  );
}
