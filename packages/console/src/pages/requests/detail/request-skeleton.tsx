import { Group, Skeleton, Stack, VisuallyHidden } from '@mantine/core';

/** In place of a request while it is loaded. */
export function RequestSkeleton() {
  return (
    <Stack gap="md" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      <Skeleton height={24} width={320} maw="100%" />
      <Skeleton height={64} radius="md" />
      <Group gap="xs">
        {[0, 1, 2, 3].map((index) => (
          <Skeleton key={index} height={28} width={112} />
        ))}
      </Group>
      <Skeleton height={72} radius="md" />
      <Skeleton height={180} radius="md" />
    </Stack>
  );
}
