import { Button, Group, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { CalendarRange } from 'lucide-react';
import { localInputOf, timeOfLocalInput } from '../../../ui/form/local-input.ts';
import { isFixed, PERIODS, USUAL_PERIOD, type PeriodName } from '../periods.ts';
import type { FilterChange, RequestsSearch } from '../requests-search.ts';
import classes from './period-control.module.css';

interface PeriodControlProps {
  readonly search: RequestsSearch;
  readonly onChange: (change: FilterChange) => void;
}

const CHOICES = Object.entries(PERIODS).map(([value, { label }]) => ({ value, label }));

/** The year goes without saying: requests are kept for a month. */
const short = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Which time the list is of: a period that ends now, or one with fixed ends. */
export function PeriodControl({ search, onChange }: PeriodControlProps) {
  const fixed = isFixed(search);
  return (
    <Group gap={6}>
      <SegmentedControl
        aria-label="Period"
        data={CHOICES}
        value={fixed ? '' : (search.period ?? USUAL_PERIOD)}
        onChange={(value) =>
          onChange({ period: value === USUAL_PERIOD ? undefined : (value as PeriodName) })
        }
      />
      <Popover position="bottom-end" trapFocus withinPortal={false}>
        <Popover.Target>
          <Button
            variant={fixed ? 'light' : 'default'}
            px={9}
            {...(!fixed && { 'aria-label': 'From … until', title: 'From … until' })}
          >
            <CalendarRange size={14} aria-hidden />
            {fixed && <span className={classes.fixed}>{fixedText(search)}</span>}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="sm">
            <TextInput
              type="datetime-local"
              label="From"
              value={localInputOf(search.since)}
              onChange={({ currentTarget: { value } }) =>
                onChange({ since: timeOfLocalInput(value) })
              }
            />
            <TextInput
              type="datetime-local"
              label="Until"
              value={localInputOf(search.until)}
              onChange={({ currentTarget: { value } }) =>
                onChange({ until: timeOfLocalInput(value) })
              }
            />
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}

function fixedText({ since, until }: RequestsSearch): string {
  const from = shown(since);
  const to = shown(until);
  if (to === undefined) return `Since ${from ?? 'the begin'}`;
  return from === undefined ? `Until ${to}` : `${from} – ${to}`;
}

function shown(time: string | undefined): string | undefined {
  return time === undefined || Number.isNaN(Date.parse(time))
    ? undefined
    : short.format(new Date(time));
}
