import { Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useDocumentTitle } from './document-title.ts';

interface PageProps {
  /** The heading, and the name of the tab. */
  readonly title: string;
  /** The heading as it is shown, if it is more than its text. */
  readonly heading?: ReactNode;
  /** What is said of it right after the heading, such as its state. */
  readonly state?: ReactNode;
  /** Buttons and fields beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its heading, its actions and its content. */
export function Page({ title, heading = title, state, actions, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm" mih={32}>
        <Group gap="sm" miw={0}>
          <Title order={1}>{heading}</Title>
          {state}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
