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
      <Group justify="space-between" gap="sm" mih={32}>
        <Title order={1}>{title}</Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
