import { Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useDocumentTitle } from './document-title.ts';

interface PageProps {
  /** The heading, and the name of the tab. */
  readonly title: string;
  /** Buttons and fields beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its heading, its actions and its content. */
export function Page({ title, actions, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Title order={1} size="h2">
          {title}
        </Title>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
