import { Box, Button, Group, Popover, Text, TextInput } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { Bookmark, Trash2 } from 'lucide-react';
import { useState, type SubmitEvent } from 'react';
import { IconButton } from '../../../ui/icon-button.tsx';
import { visibleText } from '../../../ui/visible-text.ts';
import { filtersOf, type RequestsSearch } from '../requests-search.ts';
import classes from './saved-views.module.css';
import { readViews, withoutView, withView } from './views.ts';

interface SavedViewsProps {
  readonly search: RequestsSearch;
  readonly onView: (search: RequestsSearch) => void;
}

/** Filters under a name, in this browser alone. */
export function SavedViews({ search, onView }: SavedViewsProps) {
  const [stored, setStored] = useLocalStorage<unknown>({
    key: 'gateway-console-request-views',
    defaultValue: [],
  });
  const views = readViews(stored);
  const [name, setName] = useState('');
  const [isOpen, { close, toggle }] = useDisclosure(false);

  function save(event: SubmitEvent): void {
    event.preventDefault();
    if (name.trim() === '') return;
    setStored(withView(views, { name: name.trim(), search: filtersOf(search) }));
    setName('');
  }

  return (
    <Popover
      opened={isOpen}
      onDismiss={close}
      position="bottom-end"
      width={280}
      withinPortal={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          c="var(--text)"
          px={8}
          aria-label="Views"
          onClick={toggle}
        >
          <Bookmark size={14} aria-hidden />
          <Box component="span" ml={8} visibleFrom="sm">
            Views
          </Box>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Views" p={8}>
        {views.length === 0 && (
          <Text size="xs" c="dimmed" px={4} pb={8}>
            Filters and period under a name, in this browser.
          </Text>
        )}
        <ul className={classes.views}>
          {views.map((view) => (
            <li key={view.name} className={classes.view}>
              <button
                type="button"
                className={classes.name}
                onClick={() => {
                  close();
                  onView(view.search);
                }}
              >
                {visibleText(view.name)}
              </button>
              <IconButton
                icon={Trash2}
                label={`Delete the view ${visibleText(view.name)}`}
                onClick={() => setStored(withoutView(views, view.name))}
              />
            </li>
          ))}
        </ul>
        <form onSubmit={save}>
          <Group gap={8} wrap="nowrap">
            <TextInput
              flex={1}
              aria-label="Name of the view"
              placeholder="Save these filters as"
              maxLength={60}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button type="submit" variant="default" disabled={name.trim() === ''}>
              Save
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
