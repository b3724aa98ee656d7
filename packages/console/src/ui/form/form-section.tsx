import { Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

interface FormSectionProps {
  readonly title: string;
  readonly description?: string;
  /** The names of its fields, by which a URL can open the form at it. */
  readonly fields?: readonly string[];
  /** Default: two where there is room. */
  readonly columns?: 1;
  readonly children: ReactNode;
}

/** Fields that belong together. */
export function FormSection({ title, description, fields, columns, children }: FormSectionProps) {
  const id = useId();
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby={id}
      data-fields={fields?.join(' ')}
    >
      <Title order={2} size="h5" id={id}>
        {title}
      </Title>
      {description !== undefined && (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: columns ?? 2 }} spacing="md" mt="sm">
        {children}
      </SimpleGrid>
    </Paper>
  );
}
