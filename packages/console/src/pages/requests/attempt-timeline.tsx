import { grpcStatusText } from '@gateway/client/grpc-status';
import { Stack } from '@mantine/core';
import type { RequestRecord } from '../../api/client.ts';
import { LongText } from '../../ui/long-text.tsx';
import { msText } from '../../ui/ms-text.ts';
import classes from './attempt-timeline.module.css';
import { retryText } from './retry-text.ts';
import { StatusCode } from './status-code.tsx';
import { timelineOf, type TimelineBar } from './timeline.ts';

/** Such a label needs this part of the axis between its tick and the one before, or both would overlap on a phone. */
const LAST_LABEL = 0.28;
/** Labels of ticks after this part of the axis stand before their tick, because there is no room after it. */
const LAST_TICK = 0.8;

interface AttemptTimelineProps {
  readonly record: RequestRecord;
  /** The URLs of the upstreams by id, as far as they are known. */
  readonly urls: ReadonlyMap<string, string>;
}

/** When each attempt ran within the request, at which upstream, how it ended, and what followed. */
export function AttemptTimeline({ record, urls }: AttemptTimelineProps) {
  const { endMs, ticksMs, bars } = timelineOf(record);
  return (
    <Stack gap="xs">
      <div className={classes.axis} aria-hidden>
        {ticksMs.map((ms) => (
          <span
            key={ms}
            className={classes.tick}
            data-end={ms / endMs > LAST_TICK || undefined}
            style={{ insetInlineStart: percent(ms / endMs) }}
          >
            <span>{tickText(ms, ticksMs, endMs)}</span>
          </span>
        ))}
      </div>
      <ol className={classes.list}>
        {bars.map((bar, index) => (
          <li key={index}>
            <Attempt bar={bar} number={index + 1} record={record} urls={urls} />
          </li>
        ))}
      </ol>
    </Stack>
  );
}

function tickText(ms: number, ticksMs: readonly number[], endMs: number): string {
  if (ms === 0) return '0';
  const [, step = endMs] = ticksMs;
  return ms / endMs > LAST_TICK && step / endMs < LAST_LABEL ? '' : msText(ms);
}

interface AttemptProps extends AttemptTimelineProps {
  readonly bar: TimelineBar;
  readonly number: number;
}

function Attempt({ bar, number, record, urls }: AttemptProps) {
  const { attempt, start, length, waitedMs, failed } = bar;
  const { upstream, region, started_ms, duration_ms, status, error } = attempt;
  const { grpc_status: grpcStatus } = attempt;
  const followed = retryText(attempt, record);
  return (
    <Stack gap={4}>
      <div className={classes.attempt}>
        <span className={classes.upstream}>
          {number}. <LongText text={urls.get(upstream) ?? upstream} what="URL" />
        </span>
        {region !== null && <span className={classes.muted}>{region}</span>}
        {status !== undefined && error === undefined ? (
          <StatusCode record={{ status, outcome: failed ? 'upstream_error' : 'success' }} />
        ) : (
          <span className={classes.error}>{error ?? 'no status'}</span>
        )}
        {grpcStatus !== undefined && (
          <span className={failed ? classes.error : classes.muted}>
            gRPC {grpcStatusText(grpcStatus)}
          </span>
        )}
        <span className={classes.took}>{msText(duration_ms)}</span>
      </div>
      <div className={classes.track}>
        <div
          className={classes.bar}
          data-failed={failed || undefined}
          style={{ insetInlineStart: percent(start), width: percent(length) }}
        />
      </div>
      <div className={classes.note}>
        <span>{when(started_ms, waitedMs)}</span>
        {followed !== undefined && <span className={classes.followed}>{followed}</span>}
      </div>
    </Stack>
  );
}

function when(startedMs: number, waitedMs: number): string {
  const started = `Started after ${msText(startedMs)}`;
  return waitedMs < 0.05 ? `${started}.` : `${started}, ${msText(waitedMs)} of them waiting.`;
}

function percent(part: number): string {
  return `${part * 100}%`;
}
