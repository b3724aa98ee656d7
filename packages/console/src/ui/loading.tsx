import { Center, Loader, VisuallyHidden } from '@mantine/core';

/** While a page is loaded. */
export function Loading() {
  return (
    <Center p="xl" role="status">
      <Loader />
      <VisuallyHidden>Loading</VisuallyHidden>
    </Center>
  );
}
