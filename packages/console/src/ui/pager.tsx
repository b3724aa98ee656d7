import { Button, Group } from '@mantine/core';

interface PagerProps {
  /** The cursor of the shown page; undefined: the first one. */
  readonly cursor: string | undefined;
  /** null: the shown page is the last one. */
  readonly nextCursor: string | null | undefined;
  readonly onMove: (cursor: string | undefined) => void;
}

/** The buttons below a list with several pages. The cursor belongs into the URL, so that a page can be shared. */
export function Pager({ cursor, nextCursor, onMove }: PagerProps) {
  const isLast = nextCursor === null || nextCursor === undefined;
  if (cursor === undefined && isLast) return null;
  return (
    <Group component="nav" aria-label="Pages of the list" justify="flex-end" gap="sm">
      <Button
        variant="default"
        size="xs"
        disabled={cursor === undefined}
        onClick={() => onMove(undefined)}
      >
        First page
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={isLast}
        onClick={() => isLast || onMove(nextCursor)}
      >
        Next page
      </Button>
    </Group>
  );
}
