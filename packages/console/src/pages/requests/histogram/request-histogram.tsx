import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type PointerEvent } from 'react';
import { countedText } from '@gateway/client/measures';
import { localTime } from '../../../ui/time-text.ts';
import { histogramQuery } from '../counts-query.ts';
import type { Counts, StatusClass } from './counts.ts';
import type { FilterChange, RequestsSearch } from '../requests-search.ts';
import { barsOf, periodOfBars, totalsOf, type HistogramBar } from './histogram-bars.ts';
import classes from './request-histogram.module.css';

interface RequestHistogramProps {
  readonly environment: string;
  readonly search: RequestsSearch;
  readonly onChange: (change: FilterChange) => void;
}

/** What it takes, px. */
const HEIGHT = 138;

/** The requests of the period by time and class of status. Dragging over bars narrows the period to them. */
export function RequestHistogram({ environment, search, onChange }: RequestHistogramProps) {
  const { data, error } = useQuery(histogramQuery(environment, search));
  // The list says what is wrong.
  if (error !== null && data === undefined) return null;
  if (data === undefined) return <Skeleton height={HEIGHT} radius="md" />;
  // Nothing can be seen, nor chosen.
  if (data.requests === 0) return null;
  return <Drawn counts={data} search={search} onChange={onChange} />;
}

interface Drag {
  readonly from: number;
  readonly to: number;
}

type DrawnProps = Omit<RequestHistogramProps, 'environment'> & { readonly counts: Counts };

function Drawn({ counts, search, onChange }: DrawnProps) {
  const bars = useMemo(() => barsOf(counts), [counts]);
  const [pointed, setPointed] = useState<number>();
  const [drag, setDrag] = useState<Drag>();
  const most = Math.max(1, ...bars.map(({ requests }) => requests));

  function indexAt({ currentTarget, clientX }: PointerEvent<HTMLElement>): number {
    const { left, width } = currentTarget.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / width) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, at));
  }

  function narrow(): void {
    const period = drag && periodOfBars(bars, drag.from, drag.to);
    setDrag(undefined);
    if (period === undefined) return;
    onChange({
      since: new Date(period.fromMs).toISOString(),
      until: new Date(period.toMs).toISOString(),
    });
  }

  const shown = drag ?? (pointed === undefined ? undefined : { from: pointed, to: pointed });
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <Totals counts={counts} search={search} onChange={onChange} />
        <Text size="xs" c="dimmed" span>
          {shown === undefined ? <Note counts={counts} /> : pointedText(bars, shown)}
        </Text>
      </figcaption>
      <div
        className={classes.bars}
        role="img"
        aria-label={`${countedText(counts.requests, 'request')} over time, by class of status`}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = indexAt(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          const at = indexAt(event);
          setPointed(at);
          if (drag !== undefined) setDrag({ from: drag.from, to: at });
        }}
        onPointerUp={narrow}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setPointed(undefined)}
      >
        {bars.map(({ fromMs, requests, parts }, index) => (
          <span key={fromMs} className={classes.slot} data-chosen={isWithin(index, drag)}>
            <span className={classes.bar} style={{ height: `${(requests / most) * 100}%` }}>
              {parts.map((part) => (
                <span
                  key={part.name}
                  className={classes.part}
                  data-class={part.name}
                  style={{ flexGrow: part.requests }}
                />
              ))}
            </span>
          </span>
        ))}
      </div>
      <div className={classes.axis} aria-hidden>
        <span>{timeText(counts.period.fromMs)}</span>
        <span>{timeText(counts.period.toMs)}</span>
      </div>
    </figure>
  );
}

function isWithin(index: number, drag: Drag | undefined): true | undefined {
  if (drag === undefined) return undefined;
  const { from, to } = drag;
  return (index >= Math.min(from, to) && index <= Math.max(from, to)) || undefined;
}

/** How many there are, and of which status; each class is a filter. */
function Totals({ counts, search, onChange }: DrawnProps) {
  return (
    <span className={classes.totals}>
      <Text span size="sm" fw={500}>
        {countedText(counts.requests, 'request')}
      </Text>
      {totalsOf(counts).map(([name, requests]) => (
        <button
          key={name}
          type="button"
          className={classes.total}
          aria-pressed={search.status === name}
          title={`Only requests with ${nameOf(name)}`}
          onClick={() => onChange({ status: search.status === name ? undefined : name })}
        >
          <span className={classes.mark} data-class={name} aria-hidden />
          <span>
            {name === 'none' ? 'no status' : name} <b>{requests.toLocaleString('en')}</b>
          </span>
        </button>
      ))}
    </span>
  );
}

function nameOf(name: StatusClass): string {
  return name === 'none' ? 'no status' : `a status of ${name}`;
}

/** Less than the whole period was counted, or what can be done with the picture. */
function Note({ counts: { countedFromMs, period } }: { readonly counts: Counts }) {
  // The time of the call is not quite that of the gateway.
  if (countedFromMs > period.fromMs + 60_000) {
    return `Counted since ${timeText(countedFromMs)}: there are too many to count them all`;
  }
  return <span className={classes.hint}>Drag to zoom in</span>;
}

function pointedText(bars: readonly HistogramBar[], { from, to }: Drag): string {
  const period = periodOfBars(bars, from, to);
  if (period === undefined) return '';
  const within = bars.slice(Math.min(from, to), Math.max(from, to) + 1);
  const requests = within.reduce((sum, one) => sum + one.requests, 0);
  return `${countedText(requests, 'request')}, ${timeText(period.fromMs)} – ${timeText(period.toMs)}`;
}

function timeText(ms: number): string {
  return localTime(new Date(ms).toISOString());
}
