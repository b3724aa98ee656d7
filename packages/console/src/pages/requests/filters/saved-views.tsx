import { Box, Button, Group, Menu, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { Bookmark, Trash2 } from 'lucide-react';
import { useState, type SubmitEvent } from 'react';
import { filtersOf, type RequestsSearch } from '../requests-search.ts';
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

  function save(event: SubmitEvent): void {
    event.preventDefault();
    if (name.trim() === '') return;
    setStored(withView(views, { name: name.trim(), search: filtersOf(search) }));
    setName('');
  }

  return (
    <Menu position="bottom-end" width={280} trapFocus={false} withinPortal={false}>
      <Menu.Target>
        <Button variant="subtle" color="gray" px={8} aria-label="Views">
          <Bookmark size={14} aria-hidden />
          <Box component="span" ml={8} visibleFrom="sm">
            Views
          </Box>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {views.map((view) => (
          <Menu.Item
            key={view.name}
            onClick={() => onView(view.search)}
            rightSection={
              <Trash2
                size={14}
                aria-label={`Delete the view ${view.name}`}
                onClick={(event) => {
                  event.stopPropagation();
                  setStored(withoutView(views, view.name));
                }}
              />
            }
          >
            {view.name}
          </Menu.Item>
        ))}
        {views.length > 0 && <Menu.Divider />}
        <form onSubmit={save}>
          <Group gap={6} p={6} wrap="nowrap">
            <TextInput
              aria-label="Name of the view"
              placeholder="Save these filters as"
              size="xs"
              maxLength={60}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              // Letters would move the selection of the menu.
              onKeyDown={(event) => {
                if (event.key !== 'Escape') event.stopPropagation();
              }}
            />
            <Button type="submit" size="xs" variant="default" disabled={name.trim() === ''}>
              Save
            </Button>
          </Group>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
