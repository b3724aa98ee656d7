import { ActionIcon, Button, type ActionIconProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Link = ComponentPropsWithRef<'a'>;

/** A link to a page of the console that looks like a button. */
export const ButtonLink = createLink((props: ButtonProps & Omit<Link, keyof ButtonProps>) => (
  <Button component="a" {...props} />
));

/** The same with an icon alone. It needs an `aria-label`. */
export const IconLink = createLink((props: ActionIconProps & Omit<Link, keyof ActionIconProps>) => (
  <ActionIcon component="a" {...props} />
));
