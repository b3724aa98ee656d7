import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'color' | 'style'> & {
  readonly ref?: Ref<HTMLAnchorElement>;
};

/** A link to a page of the console. */
export const AppLink = createLink((props: AnchorProps & LinkProps) => <Anchor {...props} />);

/** A link to a page of the console that looks like a button. */
export const ButtonLink = createLink((props: ButtonProps & LinkProps) => (
  <Button component="a" {...props} />
));
