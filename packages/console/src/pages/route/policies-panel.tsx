import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { explainPolicies } from './policies/explain-policies.ts';

/** What happens to a request to the route, in words. */
export function PoliciesPanel({ route }: { readonly route: Route }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      {explainPolicies(route).map(({ title, sentences }) => (
        <Paper key={title} component="section" withBorder p="md" aria-label={title}>
          <Title order={2} size="h5" mb="xs">
            {title}
          </Title>
          <Stack gap={6}>
            {sentences.map((sentence) => (
              <Text key={sentence} size="sm">
                {visibleText(sentence)}
              </Text>
            ))}
          </Stack>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
