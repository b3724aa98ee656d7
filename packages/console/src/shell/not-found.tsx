import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useDocumentTitle } from '../ui/document-title.ts';

/** For a path without a page. */
export function NotFound() {
  useDocumentTitle('Not found');
  return (
    <Center component="main" p="xl">
      <Stack align="center" gap="sm">
        <Title order={1} size="h2">
          There is no such page
        </Title>
        <Text c="dimmed">The address may be mistyped, or the page has moved.</Text>
        <Button component={Link} to="/" variant="default">
          To the console
        </Button>
      </Stack>
    </Center>
  );
}
