import { useRef, type KeyboardEvent, type PointerEvent } from 'react';
import { percentText } from '../../routes/weight-text.ts';
import { dividersOf, shareOf, withDivider } from './shares.ts';
import classes from './split-bar.module.css';

interface NamedVersion {
  readonly name: string;
  readonly weight: number;
}

interface SplitBarProps<Version extends NamedVersion> {
  readonly versions: readonly Version[];
  readonly isEditable: boolean;
  readonly onMove: (versions: readonly Version[]) => void;
}

/** How far the keys move a divider, percent. */
const KEYS: Readonly<Record<string, number | undefined>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -100,
  End: 100,
};

/** The shares of the versions as one bar. The dividers between them can be dragged, and moved by keys. */
export function SplitBar<Version extends NamedVersion>(props: SplitBarProps<Version>) {
  const { versions, isEditable, onMove } = props;
  const bar = useRef<HTMLDivElement>(null);
  const dividers = dividersOf(versions);
  const shares = versions.map((_version, index) => shareOf(versions, index));

  function drag(event: PointerEvent, divider: number): void {
    const box = bar.current?.getBoundingClientRect();
    if (box === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const percent = ((event.clientX - box.left) / box.width) * 100;
    onMove(withDivider(versions, divider, Math.round(percent)));
  }

  function press(event: KeyboardEvent, divider: number): void {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onMove(withDivider(versions, divider, Math.round(dividers[divider] ?? 0) + by));
  }

  return (
    <div className={classes.bar} ref={bar}>
      {versions.map(({ name }, index) => (
        <div
          key={name}
          className={classes.part}
          data-index={index % 5}
          style={{ flexGrow: shares[index] ?? 0 }}
          title={`${name}: ${percentText(shares[index] ?? 0, 100)}`}
        >
          <span className={classes.label}>
            {name} <span className={classes.share}>{percentText(shares[index] ?? 0, 100)}</span>
          </span>
        </div>
      ))}
      {isEditable &&
        dividers.map((place, divider) => (
          <div
            key={versions[divider]?.name}
            className={classes.divider}
            style={{ left: `${place}%` }}
            role="slider"
            tabIndex={0}
            aria-label={`Divider between ${versions[divider]?.name} and ${versions[divider + 1]?.name}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(place)}
            aria-valuetext={versions
              .map(({ name }, index) => `${name} ${percentText(shares[index] ?? 0, 100)}`)
              .join(', ')}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={(event) => drag(event, divider)}
            onKeyDown={(event) => press(event, divider)}
          />
        ))}
    </div>
  );
}
