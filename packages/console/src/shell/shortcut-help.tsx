import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { NAVIGATION } from './navigation-pages.ts';
import { MODIFIER } from './modifier.ts';
import { useShortcutsEnabled } from './shortcuts.ts';

interface ShortcutHelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The list of the keys, and the switch for them. */
export function ShortcutHelp({ opened, onClose }: ShortcutHelpProps) {
  const [enabled, setEnabled] = useShortcutsEnabled();
  const keys: readonly (readonly [string, string])[] = [
    [`${MODIFIER} K`, 'Go to a page, a route, a service, a token or a request'],
    ['/', 'Search on this page'],
    ['j k', 'The next and the previous request of the list'],
    ['?', 'Show this list'],
    ...NAVIGATION.map(({ label, key }) => [`g ${key}`, label] as const),
  ];
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" centered>
      <Stack>
        <Table>
          <Table.Tbody>
            {keys.map(([sequence, meaning]) => (
              <Table.Tr key={sequence}>
                <Table.Td w={80}>
                  {sequence.split(' ').map((key) => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>{meaning}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          label="Use keyboard shortcuts"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}
