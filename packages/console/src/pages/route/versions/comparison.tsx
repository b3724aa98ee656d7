import { Table } from '@mantine/core';
import type { Statistics } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';
import { shareText } from '../../../ui/share-text.ts';

interface ComparisonProps {
  readonly versions: readonly { readonly name: string }[];
  /** By version, of the last 15 minutes. */
  readonly statistics: Statistics;
}

/** How the versions did in the last quarter of an hour, for the decision between them. */
export function Comparison({ versions, statistics }: ComparisonProps) {
  return (
    <Table aria-label="Versions in the last 15 minutes" captionSide="top">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Last 15 minutes</Table.Th>
          <Table.Th ta="right">Requests</Table.Th>
          <Table.Th ta="right">Errors</Table.Th>
          <Table.Th ta="right">p95</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map(({ name }) => {
          const group = statistics.groups.find((one) => one.value === name);
          const { requests = 0, errors = 0, p95_ms: p95 = null } = group ?? {};
          return (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500}>
                {name}
              </Table.Th>
              <Table.Td ta="right">{requests.toLocaleString('en')}</Table.Td>
              <Table.Td ta="right">{shareText(requests === 0 ? null : errors / requests)}</Table.Td>
              <Table.Td ta="right">{p95 === null ? '–' : msText(p95)}</Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
