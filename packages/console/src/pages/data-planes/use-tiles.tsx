import { Text } from '@mantine/core';
import type { DataPlane } from '../../api/client.ts';
import { Tile, Tiles } from '../../ui/tiles.tsx';
import { cpuUse, eventLoopDelay, memoryUse, type Use } from './process-use.ts';

interface UseTilesProps {
  readonly plane: DataPlane;
}

/** What a data plane does and uses, at its last heartbeat. */
export function UseTiles({ plane }: UseTilesProps) {
  const isReported = plane.process_resident_memory_bytes !== null;
  return (
    <Tiles>
      <Tile name="Requests in flight">{plane.in_flight.toLocaleString('en')}</Tile>
      {isReported ? (
        [
          ['CPU', cpuUse(plane)] as const,
          ['Memory', memoryUse(plane)] as const,
          ['Event loop delay', eventLoopDelay(plane)] as const,
        ].map(([name, use]) => (
          <Tile key={name} name={name} note={use.note}>
            <Figure of={use} />
          </Tile>
        ))
      ) : (
        <Tile name="CPU and memory" isWords>
          {memoryUse(plane).note}
        </Tile>
      )}
    </Tiles>
  );
}

interface FigureProps {
  readonly of: Use;
}

function Figure({ of: { text, isHigh } }: FigureProps) {
  return (
    <Text span inherit {...(isHigh && { c: 'var(--warn)' })}>
      {text ?? '–'}
    </Text>
  );
}

/** A figure in a list, with its note for the pointer. */
export function Measured({ of }: FigureProps) {
  return (
    <span title={of.note}>
      <Figure of={of} />
    </span>
  );
}
