import { useState, type PointerEvent } from 'react';
import { rangeOfSteps, stepAt, timeAt, type TimeRange } from './time-scale.ts';

/** The steps under the pointer: one, or those that are dragged over. */
export interface Chosen {
  /** Where the drag began, which may be after its end. */
  readonly from: number;
  readonly to: number;
}

/** Follows the pointer over a chart, and says when a step was pressed or several were dragged over. */
export function useBrush(
  steps: readonly TimeRange[],
  range: TimeRange,
  onRange: ((range: TimeRange) => void) | undefined,
) {
  const [chosen, setChosen] = useState<Chosen>();
  const [isDragging, setDragging] = useState(false);

  function indexAt({ currentTarget, clientX }: PointerEvent<HTMLElement>): number {
    const { left, width } = currentTarget.getBoundingClientRect();
    return stepAt(steps, timeAt((clientX - left) / Math.max(1, width), range));
  }

  function end(): void {
    setDragging(false);
    setChosen(undefined);
  }

  return {
    chosen,
    handlers: {
      onPointerDown(event: PointerEvent<HTMLElement>) {
        if (event.button !== 0 || onRange === undefined || steps.length === 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = indexAt(event);
        setDragging(true);
        setChosen({ from: at, to: at });
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        if (steps.length === 0) return;
        const at = indexAt(event);
        setChosen(
          isDragging && chosen !== undefined ? { from: chosen.from, to: at } : { from: at, to: at },
        );
      },
      onPointerUp() {
        const asked = isDragging && chosen && rangeOfSteps(steps, chosen.from, chosen.to);
        end();
        if (asked) onRange?.(asked);
      },
      onPointerCancel: end,
      onPointerLeave() {
        if (!isDragging) setChosen(undefined);
      },
    },
  };
}
