import { sparklinePoints } from './sparkline-path.ts';
import classes from './sparkline.module.css';

interface SparklineProps {
  /** Says what the line shows, for people who do not see it. */
  readonly label: string;
  readonly values: readonly number[];
  /** A second line on the same scale, in the colour of errors. */
  readonly errors?: readonly number[];
  readonly width?: number;
  readonly height?: number;
}

/** The course of a number, small enough for a cell of a table. */
export function Sparkline({ label, values, errors, width = 120, height = 24 }: SparklineProps) {
  const largest = Math.max(0, ...values);
  const hasErrors = errors?.some((count) => count > 0) === true;
  return (
    <svg
      className={classes.svg}
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <polyline className={classes.line} points={sparklinePoints(values, width, height, largest)} />
      {hasErrors && (
        <polyline
          className={classes.errors}
          points={sparklinePoints(errors, width, height, largest)}
        />
      )}
    </svg>
  );
}
