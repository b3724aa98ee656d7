import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import type { Explanation } from '../../../api/client.ts';
import { DataTable, type Column } from '../../../ui/data-table.tsx';
import { LongText } from '../../../ui/long-text.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { ExplanationFacts } from './explanation-facts.tsx';
import { protocolText } from '../../service/settings-text.ts';
import classes from './explanation-view.module.css';
import { outcomeText } from './outcome-text.ts';
import { useReadableExplanation } from './readable-explanation.ts';

type Stage = Explanation['stages'][number];

const MARKS = {
  continue: '✓',
  forward: '✓',
  refuse: '✗',
  answer: '→',
  wait: '…',
  elsewhere: '→',
  not_reached: '·',
} as const;
const WORDS = {
  continue: 'continues',
  forward: 'sends the request',
  refuse: 'refuses',
  answer: 'answers',
  wait: 'waits',
  elsewhere: 'leaves it to another route',
  not_reached: 'not reached',
} as const;
/** The mark says it. */
const PASSED: ReadonlySet<string> = new Set(['continue', 'forward']);
const COLOURS = {
  forward: 'green',
  refuse: 'red',
  answer: 'blue',
  wait: 'yellow',
  elsewhere: 'blue',
} as const;

/** How the request would end, what each stage decides, and the facts behind it. */
export function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const readable = useReadableExplanation(explanation);
  const { outcome, stages, upstreams } = readable;
  return (
    <Stack gap="md" role="region" aria-label="Explanation">
      <Alert
        color={COLOURS[outcome.decision]}
        role="status"
        title={<span className={classes.outcome}>{outcomeText(outcome)}</span>}
      >
        {outcome.reason}
      </Alert>
      <Paper withBorder p="sm">
        <Title order={2} mb="xs">
          Stages
        </Title>
        <ol className={classes.stages}>
          {stages.map((stage) => (
            <StageItem key={stage.name} {...stage} />
          ))}
        </ol>
      </Paper>
      {upstreams !== null && upstreams.length > 0 && <Upstreams upstreams={upstreams} />}
      <Paper withBorder p="sm">
        <Title order={2} mb="xs">
          Facts
        </Title>
        <ExplanationFacts readable={readable} explanation={explanation} />
      </Paper>
    </Stack>
  );
}

function StageItem({ name, decision, reason }: Stage) {
  return (
    <li className={classes.stage} data-decision={decision}>
      <span className={classes.mark} aria-hidden>
        {MARKS[decision]}
      </span>
      <Text fw={500}>
        {name.replaceAll('_', ' ')}
        {!PASSED.has(decision) && (
          <Text span inherit fw={400} c="dimmed">
            {' '}
            {WORDS[decision]}
          </Text>
        )}
      </Text>
      <Text>{decision !== 'not_reached' && reason}</Text>
    </li>
  );
}

type Upstream = NonNullable<Explanation['upstreams']>[number];

const UPSTREAM_COLUMNS: readonly Column<Upstream>[] = [
  {
    key: 'url',
    header: 'Upstream',
    cell: ({ url }) => (
      <span className={classes.url}>
        <LongText text={url} what="URL" />
      </span>
    ),
  },
  { key: 'health', header: 'Health', cell: ({ health }) => <StatusBadge status={health} /> },
  {
    key: 'region',
    header: 'Region',
    visibleFrom: 'sm',
    cell: ({ region }) => region ?? 'every\u00a0region',
  },
  {
    key: 'protocol',
    header: 'Protocol',
    visibleFrom: 'sm',
    cell: ({ url, protocol, websocket_protocol }) =>
      protocolText({ protocol, websocket_protocol, upstreams: [{ url }] }),
  },
  { key: 'why', header: 'Why', visibleFrom: 'sm', cell: ({ reason }) => reason },
];

interface UpstreamsProps {
  readonly upstreams: readonly Upstream[];
}

function Upstreams({ upstreams }: UpstreamsProps) {
  return (
    <Paper withBorder>
      <Title order={2} px="sm" pt="sm">
        Upstreams of the first attempt
      </Title>
      <DataTable
        label="Upstreams of the first attempt"
        columns={UPSTREAM_COLUMNS}
        rows={upstreams}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Paper>
  );
}
